<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

/**
 * Takes the lines of a log apart: each of their values by its place. It knows no names of programs.
 *
 * `word 1` is counted from the begin of the line, `before 1` and `behind 1` from the request, `a.b` is a field of JSON, of pairs or
 * of the columns that "#Fields:" names, and `a: word 1` is a word of a line that stands in the field a.
 */
final class LineSplitter
{
    public const REQUEST = 'request';
    private const METHODS = '(?:GET|POST|HEAD|PUT|DELETE|PATCH|OPTIONS|CONNECT|TRACE|PROPFIND|PROPPATCH|REPORT|MKCOL|COPY|MOVE|LOCK|UNLOCK|PURGE)';
    private const QUOTED = '"[^"\\\\]*+(?:\\\\.[^"\\\\]*+)*+"';
    private const TIME = '\d\d/[A-Za-z]{3}/\d{4}:\d\d:\d\d:\d\d\S*+(?: [+-]\d{4})?+|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S*+(?: (?:UTC|[+-]\d\d:?\d\d)(?!\S))?+';
    /** No blank is in a word, unless it is in quotes or brackets, a time, or a list with commas. */
    private const WORD = '(?:[\w.@-]++=)?+' . self::QUOTED . '\S*+|\[[^\]]{0,200}+\]\S*+|' . self::TIME . '|(?:[^\s"]++(?<=,)\s++(?=\S))*+\S++';
    /** A request is a word: in quotes as a whole, or else a method and a path. */
    private const QUOTED_REQUEST = '~("[A-Z]{3,20} (?:/|\*|https?://)[^"\\\\]*+(?:\\\\.[^"\\\\]*+)*+"\S*+)|' . self::WORD . '~';
    private const BARE_REQUEST = '~("?+' . self::METHODS . '"?+[\s|]++"?+(?:/|\*|https?://)[^\s"]*+"?+)|' . self::WORD . '~';
    private const MOST_WORDS = 300;
    private const MOST_NAMES = 1000;
    private const BEFORE = [1 => 'before 1', 2 => 'before 2', 3 => 'before 3'];
    private const DEEPEST = 3;

    /** Whether the line that was read last is a JSON object: another program's than the lines of text beside it. */
    public bool $isJson = false;
    /** @var list<string>|null the names behind "#Fields:" */
    private ?array $columns = null;
    /** @var array<int, list<string>> the names of words, by how many there are and which is the request */
    private array $names = [];

    /** @param bool $only_format whether lines of text that are not in the format are none of this log's */
    public function __construct(private ?FormatString $format, private bool $only_format)
    {
    }

    /** @return array<string, string> the values by their places; none if the line has no request nor fields */
    public function split(string $line): array
    {
        $this->isJson = false;
        if ($line[0] === '#') {
            if (str_starts_with($line, '#Fields:')) {
                preg_match_all('~\S+~', substr($line, strlen('#Fields:')), $names);
                $this->columns = $names[0];
            }
            return [];
        }
        if ($this->columns !== null) {
            $values = preg_split('~\s~', trim($line)) ?: [];
            $places = count($values) === count($this->columns) ? array_combine($this->columns, $values) : [];
            return isset($places['date'], $places['time']) ? ['date and time' => "$places[date] $places[time]"] + $places : $places;
        }
        return $this->places($line, 0);
    }

    /** @return array<string, string> */
    private function places(string $line, int $depth): array
    {
        $places = $this->format?->places($line);
        if ($places !== null) {
            return $places;
        }
        $begin = str_ends_with(rtrim($line), '}') ? strpos($line, '{') : false;
        $object = $begin === false ? null : json_decode($begin === 0 ? $line : substr($line, $begin), true, 32, JSON_INVALID_UTF8_SUBSTITUTE | JSON_BIGINT_AS_STRING);
        if (is_array($object)) {
            $this->isJson = true;
            return $this->fields($object, '', $depth);
        }
        return $this->only_format ? [] : $this->words($line);
    }

    /** @return array<string, string> */
    private function words(string $line): array
    {
        preg_match_all(self::QUOTED_REQUEST, $line, $match);
        $request = self::first($match[1]);
        if ($request === null) {
            preg_match_all(self::BARE_REQUEST, $line, $match);
            $request = self::first($match[1]);
        }
        $words = array_slice($match[0], 0, self::MOST_WORDS);
        if ($request === null) {
            return self::pairs($words);
        }
        $count = count($words);
        if (count($this->names) > self::MOST_NAMES) {
            $this->names = [];
        }
        $places = array_combine($this->names[$count * self::MOST_WORDS + $request] ??= self::names($count, $request), $words);
        foreach (self::BEFORE as $before => $name) {
            if ($before <= $request) {
                $places[$name] = $words[$request - $before];
            }
        }
        return $places;
    }

    /** @param list<string> $requests what each word has of a request */
    private static function first(array $requests): ?int
    {
        foreach ($requests as $number => $request) {
            if ($request !== '') {
                return $number < self::MOST_WORDS ? $number : null;
            }
        }
        return null;
    }

    /** @return list<string> */
    private static function names(int $count, int $request): array
    {
        return array_map(static fn (int $word): string => match ($word <=> $request) {
            -1 => 'word ' . ($word + 1),
            0 => self::REQUEST,
            1 => 'behind ' . ($word - $request),
        }, range(0, $count - 1));
    }

    /**
     * @param list<string> $words
     *
     * @return array<string, string> none if no word is a pair
     */
    private static function pairs(array $words): array
    {
        $places = [];
        $has_pairs = false;
        foreach ($words as $number => $word) {
            if (preg_match('~^([\w.@-]++)=(.*+)$~s', $word, $pair) === 1) {
                $has_pairs = true;
                $places += [$pair[1] => trim($pair[2], '"')];
            } else {
                $places['word ' . ($number + 1)] = $word;
            }
        }
        return $has_pairs ? $places : [];
    }

    /**
     * @param array<mixed> $values
     *
     * @return array<string, string> also of lists of names with values, and of the lines that stand in fields
     */
    private function fields(array $values, string $before, int $depth): array
    {
        $places = [];
        foreach ($values as $key => $value) {
            $name = $before . (is_string($value['name'] ?? null) && isset($value['value']) ? $value['name'] : $key);
            if (is_array($value)) {
                $places += $this->fields($value, "$name.", $depth);
            } elseif (is_string($value)) {
                $places[$name] = $value;
                if ($depth < self::DEEPEST && preg_match('~\b' . self::METHODS . '\b.*[\s"]~', $value) === 1) {
                    foreach ($this->places($value, $depth + 1) as $place => $word) {
                        $places["$name: $place"] = $word;
                    }
                }
            } elseif (is_int($value) || is_float($value)) {
                $places[$name] = (string) $value;
            }
        }
        return $places;
    }
}
