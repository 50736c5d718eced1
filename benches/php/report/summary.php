<?php
/*
 * The first table of the page: seven rows, beside symfony/rate-limiter.
 */

function summary(): string
{
    $latency = kept('latency')['limiters'];
    $admitted = kept('over_admission');
    $instructions = kept('instructions')['pages'];
    $outages = kept('outage')['outages'];
    $decision = fn (string $ours, string $symfony) => [
        duration(median($latency[$ours]['mean'])),
        ratio(ratio_of($latency[$symfony]['mean'], $latency[$ours]['mean'])),
        ratio(ratio_of($latency["{$symfony}_lock"]['mean'], $latency[$ours]['mean'])),
    ];
    $most = fn (string $limiter) => 'up to ' . number_format(max($admitted['limiters'][$limiter]['admitted']));
    $more = fn (string $page) => percent($instructions[$page] / $instructions['none']);
    $slowest = fn (string $caller) => duration($outages['stopped'][$caller]['slowest']);
    preg_match('/^\d+\.\d+/', kept('environment')['symfony']['symfony/rate-limiter'], $version);
    return "## What a decision costs\n\n" . table(['', 'token_bucket', "symfony/rate-limiter $version[0]", 'with its lock'], [
        ['a decision in shared memory (symfony: APCu)', ...$decision('shm', 'symfony_apcu')],
        ['the same with 100,000 clients at random', duration(calls_median('`consume()`, 100,000 identifiers at random')), '', ''],
        ['a decision on Redis, unix socket', ...$decision('redis_unix', 'symfony_redis_unix')],
        ['a decision on Redis, TCP', ...$decision('redis_tcp', 'symfony_redis_tcp')],
        ["accepted of {$admitted['limit']} by {$admitted['processes']} processes at once", $most('shm'), $most('symfony_apcu'), $most('symfony_apcu_lock')],
        ['instructions added to a page, in memory', $more('shm'), $more('symfony_apcu'), $more('symfony_apcu_lock')],
        ['the slowest call while Redis is stopped', $slowest('token_bucket'), $slowest('symfony'), ''],
    ], 'lrrr') . "\nx = times as long as token_bucket. The first row has one bucket in the processor's cache, the second does not. [All limiters and stores](benchmarks/tables.md#latency-of-a-decision), [all kinds of calls](benchmarks/tables.md#beside-the-least-that-can-be-done).\n\n"
        . "![the time of a decision](benchmarks/latency.svg)\n\n";
}
