<?php
/*
 * The warnings in php-fpm's log: one for each outage and breaker, and those of calls that failed alone; and the ends of outages.
 */

/** The text of a warning of a call that failed alone and opened no breaker. */
const ONE_CALL = '/the write was not done in time|too slowly for another round trip|did not read the row in time|reads are answered, but |maybe the call was done|the bucket is too busy; |, while others are answered; /';
/** The line that reports the end of an outage. */
const RECOVERY = '/^\[.*?\] token_bucket: .* answers again; it did not for [\d.]+ s$/';
/** Seconds within which several workers' warnings of a missing socket count as one outage. */
const OF_ONE_OUTAGE = 5;

/**
 * Counts the warnings of outages by store, those of single calls, and the ends of outages; returns all other lines as they are.
 *
 * @param list<Store> $stores
 * @return array{array<string, int>, int, int, list<string>}
 */
function count_warnings(string $file, array $stores): array
{
    $counts = $warned_at = array_fill_keys(array_map(fn (Store $store): string => $store->name, $stores), 0);
    $of_calls = $recoveries = 0;
    $others = [];
    foreach (is_file($file) ? file($file, FILE_IGNORE_NEW_LINES) : [] as $line) {
        $of = array_filter($stores, fn (Store $store): bool => (bool) array_filter(
            $store->addresses(),
            fn (string $address): bool => str_contains($line, " at $address: "),
        ));
        $name = $of ? reset($of)->name : '';
        if (preg_match(RECOVERY, $line)) {
            $recoveries++;
        } elseif ($of && preg_match('/; until (a call succeeds|a server accepts writes), /', $line)) {
            $counts[$name]++;
        } elseif ($of && preg_match('/^\[(.*?)\].*No such file or directory.*; until this process can ask it, /', $line, $found)) {
            // A killed server's socket is gone. Each worker warns of it, because a missing socket may be local to a worker.
            $at = strtotime($found[1]);
            $counts[$name] += (int) ($at > $warned_at[$name] + OF_ONE_OUTAGE);
            $warned_at[$name] = $at;
        } elseif (preg_match(ONE_CALL, $line) || $of && reset($of)->fail_alone !== null) {
            $of_calls++;
        } else {
            $others[] = $line;
        }
    }
    return [$counts, $of_calls, $recoveries, $others];
}
