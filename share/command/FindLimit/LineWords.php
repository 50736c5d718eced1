<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

/**
 * The words of a line, in which its time and its request are a word each.
 *
 * The column of a word is its number. Behind the request words are counted from the request, for a user's name before it may have blanks.
 */
final class LineWords
{
    public const BEHIND_REQUEST = 1000;
    private const TIME = "\x01";
    private const REQUEST = "\x02";
    private const ORDINALS = ['first', 'second', 'third', 'fourth', 'fifth', 'sixth', 'seventh', 'eighth', 'ninth', 'tenth'];

    /** @param list<string> $words */
    private function __construct(private array $words, public readonly int $time, public readonly int $request)
    {
    }

    /**
     * @param string $request a regular expression, as is $time
     *
     * @return self|null null if the line has no request or no time
     */
    public static function split(string $line, string $request, string $time): ?self
    {
        $line = (string) preg_replace("~$request~", self::REQUEST, $line, 1);
        $line = (string) preg_replace("~[\"\[]?+$time~", self::TIME, $line, 1);
        preg_match_all('~' . LinePart::WORD . '~', $line, $words);
        $first_bytes = array_map(static fn (string $word): string => $word[0], $words[0]);
        $position_of_time = array_search(self::TIME, $first_bytes, true);
        $position_of_request = array_search(self::REQUEST, $first_bytes, true);
        return is_int($position_of_time) && is_int($position_of_request) ? new self(array_values($words[0]), $position_of_time, $position_of_request) : null;
    }

    /** @return array<int, string> the words by their columns */
    public function columns(): array
    {
        $columns = [];
        foreach ($this->words as $number => $word) {
            $columns[$number < $this->request ? $number : self::BEHIND_REQUEST + $number - $this->request] = $word;
        }
        return $columns;
    }

    public function position(int $column): int
    {
        return $column < self::BEHIND_REQUEST ? $column : $column - self::BEHIND_REQUEST + $this->request;
    }

    /** The number of a word as it is said: "third word". */
    public static function ordinal(int $position): string
    {
        return (self::ORDINALS[$position] ?? $position + 1 . '.') . ' word';
    }
}
