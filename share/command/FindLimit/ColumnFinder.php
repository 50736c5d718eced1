<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

/** Finds the format of lines of text by their contents: a time with a date, a request, and a word that is an address in most lines. */
final class ColumnFinder
{
    public function __construct(private ClientKey $key)
    {
    }

    /**
     * @param non-empty-list<string> $lines the first of a log
     *
     * @throws UnknownFormat
     */
    public function find(array $lines): TextFormat
    {
        $is_quoted = preg_grep('~' . LinePart::QUOTED_REQUEST . '~', $lines) !== [];
        $request = $is_quoted ? LinePart::QUOTED_REQUEST : LinePart::BARE_REQUEST;
        $lines = array_values(preg_grep("~$request~", $lines) ?: throw new UnknownFormat('no request, such as "POST /login HTTP/1.1"', $lines[0]));
        $kind_of_time = self::kindOfTime($lines) ?? throw new UnknownFormat('no time with a date', $lines[0]);
        $split = array_map(static fn (string $line): ?LineWords => LineWords::split($line, $request, LinePart::TIMES[$kind_of_time]), $lines);
        $split = array_values(array_filter($split)) ?: throw new UnknownFormat('no time with a date', $lines[0]);
        $usual = $kind_of_time === 'common' ? self::usualColumn($split) : null;
        if ($this->key->isAddress()) {
            $columns = (new AddressColumns($split, $this->key->addresses))->find($usual, $lines[0]);
        } else {
            $columns = $usual === null ? [] : ['address' => $usual];
        }
        return ColumnExpression::compile($split, $columns, $kind_of_time, $is_quoted);
    }

    /** @param non-empty-list<string> $lines */
    private static function kindOfTime(array $lines): ?string
    {
        foreach (LinePart::TIMES as $kind => $expression) {
            $has_time = static function (string $line) use ($expression): bool {
                preg_match("~$expression~", $line, $match);
                return LogTime::isPlausible(LogTime::fromValue($match[0] ?? null));
            };
            if (2 * count(array_filter($lines, $has_time)) >= count($lines)) {
                return $kind;
            }
        }
        return null;
    }

    /**
     * The client's column in the common format, as in "192.0.2.7 - anna [": the client, its ident and its user.
     *
     * @param non-empty-list<LineWords> $lines
     */
    private static function usualColumn(array $lines): ?int
    {
        $columns = array_count_values(array_map(static fn (LineWords $line): int => $line->time < $line->request ? $line->time - 3 : -1, $lines));
        $column = array_search(max($columns), $columns, true);
        return is_int($column) && $column >= 0 ? $column : null;
    }
}
