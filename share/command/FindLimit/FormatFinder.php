<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

use TokenBucket\Command\CommandError;
use TokenBucket\Command\Text;
use TokenBucket\Command\UsageError;

/** Finds the format of a log by its first lines: the one that --format names, or the one that they show. */
final class FormatFinder
{
    private const JSON = 'json';
    /** Words of another program before a line that --format describes, at most: `Sep 22 08:00:00 web1 nginx: `. */
    private const MOST_WORDS_BEFORE = 10;

    /** Of --format, unless that is json. */
    private ?TextFormat $given;

    /**
     * @param string|null $format of --format
     *
     * @throws UsageError if it cannot be read
     */
    public function __construct(private ?string $format, private ClientKey $key)
    {
        $this->given = $format === null || $format === self::JSON ? null : FormatString::compile($format, $key->isAddress());
    }

    /**
     * @param non-empty-list<string> $lines the first of a log
     *
     * @throws CommandError that names the log, shows a line and says what to do
     */
    public function find(LogInput $log, array $lines): LogFormat
    {
        try {
            return $this->formatOf($lines);
        } catch (UnknownFormat $unknown) {
            $message = "$log->name: " . $unknown->getMessage() . ". A line:\n    " . Text::printable($unknown->sample) . "\n" . $this->advice();
            throw new CommandError($message . ($log->warning === null ? '' : "\n$log->warning"));
        }
    }

    /** What to do about a log that was not read right. */
    public function advice(): string
    {
        $names = 'the log_format of nginx or the LogFormat of Apache, or combined, common or json';
        return $this->format === null
            ? "Name the format with --format: $names.\ndocs/find-limit.md has the names of fields that are known, and what to do for other programs"
            : "--format must be what the server has: $names";
    }

    /** @param non-empty-list<string> $lines */
    private function formatOf(array $lines): LogFormat
    {
        $json = $text = [];
        foreach ($lines as $line) {
            $line[0] === '{' && FieldLine::json($line) !== null ? $json[] = $line : $text[] = $line;
        }
        $found = $failures = [];
        foreach (['text' => $text, 'json' => $json] as $kind => $group) {
            if ($group === []) {
                continue;
            }
            try {
                $found[] = $kind === 'json' ? $this->formatOfJson($group) : $this->formatOfText($group);
            } catch (UnknownFormat $failure) {
                $failures[count($group)] = $failure;
            }
        }
        if ($found === []) {
            throw $failures[max(array_keys($failures))];
        }
        return count($found) === 2 ? new MixedFormat($found[0], $found[1], count($json) > count($text)) : $found[0];
    }

    /** @param non-empty-list<string> $lines */
    private function formatOfText(array $lines): LogFormat
    {
        if ($this->given !== null) {
            return $this->givenBehindWords($lines);
        }
        $json = array_values(array_filter($lines, static fn (string $line): bool => (FieldLine::json($line) ?? []) !== []));
        if (2 * count($json) > count($lines) || $this->format === self::JSON) {
            return $this->formatOfJson($json ?: $lines);
        }
        $pairs = array_values(array_filter($lines, FieldLine::isPairs(...)));
        return W3cHeader::find($lines) ?? ($pairs !== [] && 2 * count($pairs) > count($lines)
            ? (new FieldFinder($pairs, FieldLine::pairs(...), $this->key))->find()
            : (new ColumnFinder($this->key))->find($lines));
    }

    /** @param non-empty-list<string> $lines */
    private function formatOfJson(array $lines): LogFormat
    {
        if ($this->given !== null) {
            // The log_format of nginx may be a JSON object, or its line may stand in one.
            try {
                return $this->givenBehindWords($lines);
            } catch (UnknownFormat $failure) {
                return WrappedFormat::find($lines, $this->formatOf(...)) ?? throw $failure;
            }
        }
        try {
            return (new FieldFinder($lines, FieldLine::json(...), $this->key))->find();
        } catch (UnknownFormat $failure) {
            return WrappedFormat::find($lines, $this->formatOf(...)) ?? throw $failure;
        }
    }

    /** @param non-empty-list<string> $lines */
    private function givenBehindWords(array $lines): TextFormat
    {
        $most = 0;
        $best = null;
        for ($words = 0; $words <= self::MOST_WORDS_BEFORE; $words++) {
            $format = $this->given?->behindWords($words);
            $count = count(array_filter($lines, fn (string $line): bool => $format?->parse($line)?->isPlausible($this->key) === true));
            if ($count > $most) {
                [$most, $best] = [$count, $format];
            }
        }
        return $best ?? throw new UnknownFormat('no line fits --format and has a time of the last ' . LogTime::YEARS . ' years and an address', $lines[0]);
    }
}
