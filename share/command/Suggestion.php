<?php
declare(strict_types=1);

namespace TokenBucket\Command;

/** Helps with a misspelt word. */
final class Suggestion
{
    /**
     * @param list<string> $known  the right words
     * @param string       $prefix what stands before each of them
     *
     * @return string "; did you mean --match?", or the list of right words if none is near; printable, for clients write names
     */
    public static function among(string $word, array $known, string $prefix = ''): string
    {
        $nearest = self::nearest($word, $known);
        if ($nearest !== null) {
            return "; did you mean $prefix$nearest?";
        }
        return $known === [] ? '' : '; there is ' . implode(', ', array_map(static fn (string $name): string => $prefix . Text::printable($name), $known));
    }

    /**
     * @param list<string> $known the right words
     *
     * @return string|null the one that was probably meant, printable; null if none is near
     */
    public static function nearest(string $word, array $known): ?string
    {
        $distances = [];
        foreach ($known as $name) {
            $distances[$name] = levenshtein(substr($word, 0, 100), $name);
        }
        asort($distances);
        $nearest = (string) array_key_first($distances);
        return $distances !== [] && $distances[$nearest] <= 1 + intdiv(strlen($nearest), 4) ? Text::printable($nearest) : null;
    }
}
