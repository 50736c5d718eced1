<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

use TokenBucket\Command\CommandError;
use TokenBucket\Command\Text;
use TokenBucket\Command\UsageError;

/** How a log is read, found by its first lines. */
final class LogReading
{
    private LineSplitter $splitter;
    /** @var array<int, Audit> of JSON: 1, of text: 0 */
    private array $kinds = [];
    /** @var list<array{client: string, time: string, request: string, not_the_client: list<string>}> */
    public array $description = [];

    /**
     * @param non-empty-list<string>                                               $lines  the first ones
     * @param string|null                                                          $format of --format
     * @param array{client: list<string>, time: list<string>, request: list<string>} $said by --client, --time and --request
     *
     * @throws CommandError if the log cannot be read
     * @throws UsageError   if a person has to say which place is which
     */
    public function __construct(public readonly LogInput $log, array $lines, ?string $format, ClientKey $key, RequestPattern $pattern, array $said)
    {
        $given = $format === null || $format === 'json' ? null : FormatString::compile($format, $key->isAddress());
        // No value shows what a user is: in text it stands where most servers write it, behind an address, or else a name.
        foreach ($format === null && $key->by === 'user' ? [false, true] : [] as $is_address) {
            $common = FormatString::compile('common', $is_address);
            $given = array_filter($lines, static fn (string $line): bool => $common->places($line) !== null) === [] ? $given : $common;
        }
        $this->splitter = new LineSplitter($given, $format !== null);
        $records = $samples = $failures = [];
        foreach ($lines as $line) {
            $record = $this->splitter->split($line);
            if ($record !== []) {
                $records[(int) $this->splitter->isJson][] = $record;
                $samples[(int) $this->splitter->isJson] ??= $line;
            }
        }
        foreach ($records as $kind => $of_kind) {
            try {
                $reader = (new Roles($of_kind, $key, $pattern, $said, $given?->user))->reader();
                $this->kinds[$kind] = new Audit($reader, $key);
                $this->description[] = $reader->describe($of_kind);
            } catch (CommandError $failure) {
                $failures[count($of_kind)] = $failure->getMessage() . ". A line:\n    " . Text::printable($samples[$kind]);
            } catch (UsageError $question) {
                throw new UsageError("$log->name: " . $question->getMessage());
            }
        }
        $this->description = array_values(array_filter($this->description));
        if ($this->kinds === []) {
            $reason = match (true) {
                $failures !== [] => $failures[max(array_keys($failures))],
                $format !== null && $given !== null => "no line fits --format. A line:\n    " . Text::printable($lines[0]),
                default => "no request, such as \"POST /login HTTP/1.1\". A line:\n    " . Text::printable($lines[0]),
            };
            throw new CommandError("$log->name: $reason\n" . self::advice($format) . ($log->warning === null ? '' : "\n$log->warning"));
        }
    }

    /** @return array{array<string, string>, Audit|null} what a line has at its places, and how to read it */
    public function read(string $line): array
    {
        $record = $this->splitter->split($line);
        return [$record, $record === [] ? null : $this->kinds[(int) $this->splitter->isJson] ?? null];
    }

    /** @return list<string> what a person has to look at, in place of a report */
    public function doubts(): array
    {
        $doubts = [];
        foreach ($this->kinds as $kind) {
            try {
                $kind->check();
            } catch (UsageError $error) {
                throw new UsageError("{$this->log->name}: " . $error->getMessage());
            }
            $doubt = $kind->doubt();
            $doubts = $doubt === null ? $doubts : [...$doubts, "{$this->log->name}: $doubt"];
        }
        return $doubts;
    }

    /** How a person may name the client of this log. */
    public function clientPlace(): string
    {
        return current($this->kinds)->reader->clientPlace();
    }

    private static function advice(?string $format): string
    {
        return $format === null
            ? "Each line must have a date with a time, a request, and an address; docs/find-limit.md says more.\nOr name the format with --format: " . FormatString::WHAT
            : '--format must be what the server has: ' . FormatString::WHAT;
    }
}
