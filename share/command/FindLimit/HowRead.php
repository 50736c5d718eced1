<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

use TokenBucket\Command\Text;

/** What the first lines of a log say, for a person to see whether they were read right. */
final class HowRead
{
    private const LONGEST = 40;

    /**
     * The client, the time and the request of the first line that has them, and where they stand.
     *
     * @param list<string> $lines
     *
     * @return array{client: string, time: string, request: string}|null null if no line has them
     */
    public static function firstLine(LogFormat $format, array $lines, ClientKey $key): ?array
    {
        $places = $format->places();
        $text = static fn (string $place, string $value): string => "$place, " . Text::printable($value, self::LONGEST);
        foreach ($lines as $line) {
            $entry = $format->parse($line);
            $client = $entry === null ? null : $key->of($entry);
            if ($entry !== null && $client !== null) {
                return [
                    'client' => $key->isAddress() ? $text($places['client'], $key->addresses->of($entry->address, $entry->forwarded)) : $text(Text::printable($key->by), $client),
                    'time' => $text($places['time'], LogTime::toText($entry->milliseconds)),
                    'request' => $text($places['request'], $entry->request),
                ];
            }
        }
        return null;
    }

    /**
     * A warning if most lines have a forwarded list that is not believed.
     *
     * @param list<string> $lines
     */
    public static function forgottenProxy(LogFormat $format, array $lines, ClientAddress $addresses): ?string
    {
        $count = 0;
        $warning = null;
        foreach (array_filter(array_map($format->parse(...), $lines)) as $entry) {
            $client = $addresses->of($entry->address, $entry->forwarded);
            $forwarded = $addresses->parse($addresses->of('', $entry->forwarded));
            if ($forwarded !== null && $forwarded !== $addresses->parse($client)) {
                $count++;
                $warning ??= "$client has forwarded requests, of $forwarded among others; if it is a proxy of yours, name it: --proxies $client";
            }
        }
        return 2 * $count > count($lines) ? $warning : null;
    }
}
