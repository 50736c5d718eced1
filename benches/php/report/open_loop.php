<?php
/*
 * The section on latency at a fixed rate of calls.
 */

function open_loop(): Section
{
    $section = new Section('Latency at a fixed rate');
    $data = kept('open_loop');
    $limiters = limiters();
    $rows = $worst = [];
    foreach (['redis' => 'Redis', 'page' => 'the page'] as $kind => $on) {
        ['rate' => $rate, 'times' => $times] = $data[$kind];
        $quantiles = array_map(fn (array $values) => array_map(fn (float $part) => quantile($values, $part), [0.5, 0.99, 0.999]), $times);
        foreach ($quantiles as $name => $values) {
            $title = isset($limiters[$name]) ? $limiters[$name]->title . ($limiters[$name]->store === MEMORY || $kind === 'redis' ? '' : ", {$limiters[$name]->store}") : 'no limiter';
            $rows[] = ["$on, " . number_format($rate) . ' a second', $title, ...array_map(duration(...), $values)];
            $ours = isset($limiters[$name]) ? $quantiles[array_key_first(by_store($limiters)[$limiters[$name]->store])] : $values;
            $below = array_filter(['median' => $values[0] / $ours[0], '99th percentile' => $values[1] / $ours[1]], fn (float $ratio) => $ratio < 1);
            if ($below) {
                $section->losses[] = ["$on at a fixed rate", $limiters[$name]->store, $limiters[$name]->title . over_admission_of($name), implode('; ', array_map(fn ($what, $ratio) => "$what " . ratio($ratio), array_keys($below), $below)), min($below)];
            }
        }
        $worst[] = ($kind === 'redis' ? 'on Redis ' : 'of the page with Redis ') . duration($quantiles['redis_unix'][1]) . ' with token_bucket, ' . duration($quantiles['symfony_redis_unix'][1]) . ' with symfony/rate-limiter, ' . duration($quantiles['symfony_redis_unix_lock'][1]) . ' with its lock';
    }
    $section->tables = 'Calls that begin at fixed times, whether or not those before have ended; a time runs from when the call should have begun. The 99th percentile is ' . implode('; ', $worst) . ".\n\nPercentiles of all calls of {$data['rounds']} rounds of {$data['seconds']} s:\n\n" . table(['', 'limiter', 'median', '99 %', '99.9 %'], $rows, 'llrrr');
    return $section;
}
