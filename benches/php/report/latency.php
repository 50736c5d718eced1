<?php
/*
 * The section on the time of a decision.
 */

function latency(): Section
{
    $section = new Section('Latency of a decision');
    $data = kept('latency');
    $measured = $data['limiters'];
    $ratios = $times = $plot = [];
    $shown = limiters() + array_map(fn (Variant $variant) => $variant->limiter, variants());
    foreach (by_store($shown) as $store => $limiters) {
        $ours = array_key_first($limiters);
        foreach ($limiters as $name => $limiter) {
            ['mean' => $mean, 'median' => $median, 'p99' => $p99] = $measured[$name];
            $ratio = ratio_of($mean, $measured[$ours]['mean']);
            $tail = ratio_of($p99, $measured[$ours]['p99']);
            $ratios[] = [$store, $limiter->title, $name === $ours ? '1' : ratio($ratio)];
            $times[] = [$store, $limiter->title, duration(median($mean)), duration(median($median)), duration(median($p99))];
            $plot[$store][$name] = [median($mean) / 1e3, max(median($p99), median($mean)) / 1e3];
            if (!$limiter->is_ours() && min($ratio, $tail) < 1) {
                $section->losses[] = ['latency', $store, $limiter->title . over_admission_of($name), implode('; ', array_filter([
                    $ratio < 1 ? 'a call ' . ratio($ratio) . ' (' . rounds_below($mean, $measured[$ours]['mean']) . ')' : '',
                    $tail < 1 ? '99th percentile ' . ratio($tail) . ' (' . rounds_below($p99, $measured[$ours]['p99']) . ')' : '',
                ])), min($ratio, $tail)];
            }
            if ($name === 'shm' || str_starts_with($name, 'symfony_apcu') || str_starts_with($name, 'symfony_redis_unix')) {
                $section->summary[] = "Latency, $store: $limiter->title " . duration(median($mean)) . ($name === $ours ? '' : ', ' . ratio($ratio) . " token_bucket's");
            }
        }
    }
    // The plot stands with the summary.
    dots('latency', $shown, $plot, 'µs a decision (dot: mean, line: to the 99th percentile)', true);
    $section->tables = "One process, one bucket, every call accepted. How many times what token_bucket takes on the same store:\n\n"
        . table(['store', 'limiter', 'a call'], $ratios, 'llr')
        . "\nIn numbers: a call within a loop of many (the empty loop is taken off), and of " . number_format($data['single_calls'])
        . " calls a round each timed by itself the median and the 99th percentile, with what the timing takes (about a tenth of a microsecond) in them:\n\n"
        . table(['store', 'limiter', 'a call in a loop', 'single: median', 'single: 99th percentile'], $times, 'llrrr');
    return $section;
}
