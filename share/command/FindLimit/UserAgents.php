<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

/** Short codes for the user agents that one process has read. */
final class UserAgents
{
    public const CODE_LENGTH = 6;
    /** Bounds the memory; user agents beyond it share one code for each kind. */
    private const MOST = 20_000;
    private const LONGEST = 200;

    /** @var array<string, string> from the text to the code */
    private array $codes = [];
    private string $prefix;

    /** @param int $process the number of the process, so that no two processes have the same codes: 0 to 25 */
    public function __construct(int $process)
    {
        $this->prefix = chr(ord('a') + $process);
        foreach (UserAgent::cases() as $kind) {
            $this->add("\0$kind->value");
        }
    }

    public function code(string $text): string
    {
        if (strlen($text) > self::LONGEST) {
            $text = substr($text, 0, self::LONGEST);
        }
        return $this->codes[$text] ?? (count($this->codes) < self::MOST
            ? $this->add($text)
            : $this->codes["\0" . UserAgent::fromText($text)->value]);
    }

    /** @return array<string, array{kind: string, text: string}> by code; of those beyond the bound only the kind is known */
    public function all(): array
    {
        $all = [];
        foreach ($this->codes as $text => $code) {
            $text = (string) $text;
            $all[$code] = str_starts_with($text, "\0")
                ? ['kind' => (UserAgent::tryFrom(substr($text, 1)) ?? UserAgent::Other)->value, 'text' => '']
                : ['kind' => UserAgent::fromText($text)->value, 'text' => $text];
        }
        return $all;
    }

    private function add(string $text): string
    {
        return $this->codes[$text] = $this->prefix . sprintf('%05d', count($this->codes));
    }
}
