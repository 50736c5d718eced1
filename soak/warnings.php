<?php
/*
 * What php-fpm has logged: one warning for each outage and breaker, and nothing else.
 */

/**
 * Counts them by store; what belongs to none is told as it is.
 *
 * @param list<Store> $stores
 * @return array{array<string, int>, list<string>}
 */
function count_warnings(string $file, array $stores): array
{
    $counts = array_fill_keys(array_map(fn (Store $store): string => $store->name, $stores), 0);
    $others = [];
    foreach (is_file($file) ? file($file, FILE_IGNORE_NEW_LINES) : [] as $line) {
        $of = array_filter($stores, fn (Store $store): bool => (bool) array_filter(
            $store->addresses(),
            fn (string $address): bool => (bool) preg_match('~ at ' . preg_quote($address, '~') . ': .*; until it answers, ~', $line),
        ));
        $of ? $counts[reset($of)->name]++ : $others[] = $line;
    }
    return [$counts, $others];
}
