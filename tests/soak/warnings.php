<?php
/*
 * What php-fpm has logged: one warning for each outage and breaker, and for a call that came to
 * nothing by itself.
 */

/** What a warning says of one call that came to nothing and opens no breaker. */
const ONE_CALL = '/the statement was not done in time|maybe the call was done/';
/** Seconds within which what several workers say of a missing socket is of one outage. */
const OF_ONE_OUTAGE = 5;

/**
 * Counts those of outages by store, and those of single calls; returns every other one as it is.
 *
 * @param list<Store> $stores
 * @return array{array<string, int>, int, list<string>}
 */
function count_warnings(string $file, array $stores): array
{
    $counts = $said_at = array_fill_keys(array_map(fn (Store $store): string => $store->name, $stores), 0);
    $of_calls = 0;
    $others = [];
    foreach (is_file($file) ? file($file, FILE_IGNORE_NEW_LINES) : [] as $line) {
        $of = array_filter($stores, fn (Store $store): bool => (bool) array_filter(
            $store->addresses(),
            fn (string $address): bool => str_contains($line, " at $address: "),
        ));
        $name = $of ? reset($of)->name : '';
        if ($of && str_contains($line, '; until it answers, ')) {
            $counts[$name]++;
        } elseif ($of && preg_match('/^\[(.*?)\].*No such file or directory.*; until this process can ask it, /', $line, $found)) {
            // A server's socket goes with it. Each worker says so, for it may be that only this one does not see it.
            $at = strtotime($found[1]);
            $counts[$name] += (int) ($at > $said_at[$name] + OF_ONE_OUTAGE);
            $said_at[$name] = $at;
        } elseif (preg_match(ONE_CALL, $line)) {
            $of_calls++;
        } else {
            $others[] = $line;
        }
    }
    return [$counts, $of_calls, $others];
}
