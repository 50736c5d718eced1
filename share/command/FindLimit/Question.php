<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

use TokenBucket\Command\Text;
use TokenBucket\Command\UsageError;

/** Words for what a person has to say: several places may be what is looked for. */
final class Question
{
    /**
     * @param string $what   client, time or request
     * @param non-empty-list<array{name: string, share: float, values: string, sample: string}> $places
     * @param string $advice what else may be said
     */
    public static function which(string $what, array $places, string $advice = ''): UsageError
    {
        $number = ['', 'one place', 'two places', 'three places', 'four places'][count($places)] ?? count($places) . ' places';
        $text = "$number may be the $what:";
        $width = max(array_map(static fn (array $place): int => strlen($place['name']), $places));
        foreach ($places as $place) {
            $text .= sprintf("\n  %-{$width}s  %3d %% of lines  %s  %s", $place['name'], (int) (100 * $place['share']), $place['values'], Text::printable($place['sample'], 60));
        }
        // No place of the log as an example: the first is often that of a proxy.
        return new UsageError("$text\nSay which, in place of PLACE: --$what 'PLACE'$advice");
    }

    /**
     * @param string       $what   client, time or request
     * @param list<string> $places that there are
     */
    public static function noSuch(string $what, string $place, array $places): UsageError
    {
        $places = array_map(static fn (string $place): string => "\n  " . self::quoted($place), array_slice($places, 0, 30));
        return new UsageError("--$what: no place of the log that may be the $what is called " . Text::printable($place) . '; there ' . ($places === [] ? 'is none' : 'are:' . implode('', $places)));
    }

    public static function quoted(string $place): string
    {
        return "'" . str_replace("'", "'\\''", Text::printable($place)) . "'";
    }
}
