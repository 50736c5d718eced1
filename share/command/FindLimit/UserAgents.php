<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

/** Short codes for user agents. */
final class UserAgents
{
    public const CODE_LENGTH = 6;
    /** Bounds the memory; user agents beyond it share one code for each kind. */
    private const MOST = 20_000;
    private const LONGEST = 200;

    /** @var array<string, string> from the text to the code */
    private array $codes = [];
    /** @var list<string>|null the texts by their codes, when all were read */
    private ?array $texts = null;

    public function __construct()
    {
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

    /**
     * @param string $codes one behind the other
     *
     * @return list<array{kind: UserAgent, text: string}> in order of their texts; of those beyond the bound only the kind is known
     */
    public function of(string $codes): array
    {
        $this->texts ??= array_map(strval(...), array_keys($this->codes));
        $texts = array_map(fn (string $code): string => $this->texts[(int) $code], str_split($codes, self::CODE_LENGTH));
        sort($texts, SORT_STRING);
        return array_map(static fn (string $text): array => str_starts_with($text, "\0")
            ? ['kind' => UserAgent::tryFrom(substr($text, 1)) ?? UserAgent::Other, 'text' => '']
            : ['kind' => UserAgent::fromText($text), 'text' => $text], $texts);
    }

    private function add(string $text): string
    {
        return $this->codes[$text] = sprintf('%06d', count($this->codes));
    }
}
