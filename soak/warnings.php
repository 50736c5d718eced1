<?php
/*
 * What php-fpm has logged: one warning for each outage and breaker, and for each statement that a
 * database did not do in time.
 */

/** What a database's warning says of one slow statement, which opens no breaker. */
const SLOW_STATEMENT = 'the statement was not done in time';

/**
 * Counts those of outages by store, and those of slow statements; returns every other one as it is.
 *
 * @param list<Store> $stores
 * @return array{array<string, int>, int, list<string>}
 */
function count_warnings(string $file, array $stores): array
{
    $counts = array_fill_keys(array_map(fn (Store $store): string => $store->name, $stores), 0);
    $slow = 0;
    $others = [];
    foreach (is_file($file) ? file($file, FILE_IGNORE_NEW_LINES) : [] as $line) {
        $of = array_filter($stores, fn (Store $store): bool => (bool) array_filter(
            $store->addresses(),
            fn (string $address): bool => (bool) preg_match('~ at ' . preg_quote($address, '~') . ': .*; until it answers, ~', $line),
        ));
        if (preg_match('~ at /.*No such file or directory.*; until this process can ask it, ~', $line)) {
            // A server's socket goes with it. Each worker says so, for it may be that only this one does not see it.
            continue;
        }
        if ($of) {
            $counts[reset($of)->name]++;
        } elseif (str_contains($line, SLOW_STATEMENT)) {
            $slow++;
        } else {
            $others[] = $line;
        }
    }
    return [$counts, $slow, $others];
}
