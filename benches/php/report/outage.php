<?php
/*
 * The section on the time of calls while the server is down.
 */

const OUTAGE_TITLES = [
    'token_bucket' => 'token_bucket, all defaults',
    'phpredis' => 'phpredis `INCR`, its own time-outs',
    'phpredis_timeout' => 'phpredis `INCR`, time-outs of 0.1 s',
    'symfony' => "symfony/rate-limiter, phpredis' own time-outs",
    'symfony_timeout' => 'symfony/rate-limiter, time-outs of 0.1 s',
];

function outage(): Section
{
    $plot = null;
    $section = new Section('When the server fails');
    $data = kept('outage');
    $section->tables = "Each limiter calls its Redis from a process of its own, every {$data['every_ms']} ms if the call before has returned, all through the same outage: the server fails after {$data['fails_at']} s "
        . "and is back after {$data['back_at']} s, {$data['seconds']} s in all. It is stopped (`SIGSTOP`: it takes connections and says nothing) or killed (`SIGKILL`: connections are refused), and what it had is lost then. phpredis' own time-outs "
        . "are none to connect and `default_socket_timeout` (60 s) to read. The recipe accepts calls when it fails and connects anew at its next call; symfony, without a lock, accepts calls by itself.\n";
    foreach ($data['outages'] as $outage => $callers) {
        $rows = $points = [];
        foreach ($callers as $name => $measured) {
            $answers = $measured['answers'] + ['server' => 0, 'fallback' => 0, 'unchecked' => 0];
            $back = $measured['back_after'] === null ? 'not within this run' : digits($measured['back_after']) . ' s';
            $rows[] = [OUTAGE_TITLES[$name], number_format($measured['calls']), duration($measured['slowest']), duration($measured['median']), number_format($answers['fallback']), number_format($answers['unchecked']), $back];
            $ours = $callers['token_bucket'];
            if ($name !== 'token_bucket') {
                $behind = array_filter([
                    $measured['slowest'] < $ours['slowest'] ? 'slowest call ' . duration($measured['slowest']) . ', token_bucket ' . duration($ours['slowest']) : '',
                    ($measured['back_after'] ?? INF) < ($ours['back_after'] ?? INF) ? "asks again after $back, token_bucket after " . digits($ours['back_after'] ?? INF) . ' s' : '',
                ]);
                if ($behind) {
                    $section->losses[] = ["server $outage", 'Redis, unix socket', OUTAGE_TITLES[$name], implode('; ', $behind), min($measured['slowest'] / $ours['slowest'], ($measured['back_after'] ?? INF) / ($ours['back_after'] ?? INF))];
                }
            }
            foreach ($measured['slowest_by_bin'] as $bin => $took) {
                $points[$name][] = [($bin + 0.5) * $data['bin_ms'] / 1e3, $took / 1e6];
            }
        }
        $section->summary[] = "Server $outage: slowest call of token_bucket " . duration($callers['token_bucket']['slowest']) . ", of phpredis " . duration($callers['phpredis']['slowest'])
            . ' (0.1 s time-outs: ' . duration($callers['phpredis_timeout']['slowest']) . "), of symfony " . duration($callers['symfony']['slowest']);
        $section->tables .= "\n### The server is $outage\n\nCalls begun while it was gone (and 0.05 s before):\n\n"
            . table(['', 'calls', 'slowest', 'median', 'decided by this host', 'accepted undecided', 'asked again after'], $rows, 'lrrrrrr');
        $plot ??= slowest_calls($data, $points, $outage);
    }
    [$ours, $symfony] = [$data['outages']['stopped']['token_bucket'], $data['outages']['stopped']['symfony']];
    $section->text = 'While Redis was stopped, the slowest call took ' . duration($ours['slowest']) . ' and the median ' . duration($ours['median']) . ", for this host decides; symfony's slowest took " . duration($symfony['slowest'])
        . '. token_bucket asks a server that is down about once a second. [In numbers](benchmarks/tables.md#when-the-server-fails).' . "\n\n$plot";
    return $section;
}

/** Plots an outage. */
function slowest_calls(array $data, array $points, string $outage): string
{
    $files = array_map(fn ($name, $values) => plot_data("outage-$outage-$name", $values), array_keys($points), $points);
    plot('outage', "outage-$outage", [
        'files' => implode(' ', $files), 'titles' => implode('|', array_map(fn ($name) => plain(OUTAGE_TITLES[$name]), array_keys($points))),
        'heading' => "Redis is $outage", 'fails' => (float) $data['fails_at'], 'back' => (float) $data['back_at'], 'seconds' => (float) $data['seconds'],
    ]);
    return "![the slowest call of each {$data['bin_ms']} ms while the server is $outage](benchmarks/outage-$outage.svg)\n";
}
