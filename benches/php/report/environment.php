<?php
/*
 * The section on the machine and the versions.
 */

const SUBJECTS = ['environment', 'latency', 'throughput', 'server_cpu', 'open_loop', 'outage', 'over_admission', 'page', 'stand_in', 'instructions', 'calls'];

const IN_ROUNDS = [
    'latency' => 'latency', 'calls' => 'calls', 'open_loop' => 'the fixed rate', 'throughput' => 'throughput', 'server_cpu' => "the servers' processor time",
    'over_admission' => 'accepted calls, and in memory ten times as many', 'page' => 'the page', 'stand_in' => 'the stand-in',
];

function introduction(): string
{
    $on = kept('environment');
    $machine = ($on['virtual'] ? 'a virtual machine with ' : '') . "{$on['cores']} cores of an {$on['cpu']}";
    $busy = busy_mark(...SUBJECTS);
    return <<<MD
        ## How it was measured

        By `make bench`, which writes this page, on {$on['date']} on $machine, PHP {$on['php']}, [in full](benchmarks/tables.md#the-machine-and-the-versions).{$busy} Look at the ratios: other machines give other numbers.

        - **Rivals** run as their users run them: opcache on, connections kept, igbinary where symfony uses it.
        - **A number** is the median of some rounds, a ratio the median of each round's ratio. [All rules](benchmarks/tables.md#how-it-was-measured).

        MD;
}

/** What the page has no room for. */
function rules(): string
{
    $rounds = implode(', ', array_map(fn ($subject, $name) => kept($subject)['rounds'] . " for $name", array_keys(IN_ROUNDS), IN_ROUNDS));
    return "Where one process is measured (latency, calls, the fixed rate on Redis, the servers' processor time), the servers have one core and it has the other. Everything is measured in rounds ($rounds), "
        . "in another order each time, so what slows down a whole round does not show in a ratio.\n";
}

function configuration(): string
{
    $on = kept('environment');
    $list = fn (array $versions) => implode(', ', array_map(fn ($name, $version) => "$name $version", array_keys($versions), $versions));
    $settings = implode(', ', array_map(fn ($name, $value) => "`$name` $value", array_keys($on['mysql_settings']), $on['mysql_settings']));
    $redis = implode(', ', array_map(fn ($name, $value) => "`$name` " . ($value === '' ? 'empty' : $value), array_keys($on['redis_settings']), $on['redis_settings']));
    return table(['', ''], [
        ['date', $on['date']],
        ['command', '`make bench`'],
        ['commit', $on['commit']],
        ['processor', "{$on['cpu']}, {$on['cores']} cores" . ($on['virtual'] ? ', virtual' : '')],
        ['memory', "{$on['memory_gib']} GiB"],
        ['kernel, system', "{$on['kernel']}, {$on['system']}"],
        ['cores that others used', 'before a subject at most ' . digits(max(array_map(fn ($subject) => kept($subject)['busy_cores'], SUBJECTS)))],
        ['PHP', "{$on['php']}; without php.ini, opcache on; JIT off but where a row says so (tracing, 64 MB)"],
        ['extensions', $list($on['extensions'])],
        ['Symfony', $list($on['symfony']) . '; in the rows that say so ' . $list($on['symfony_newest']) . ', from Debian testing. Its cache asks Composer for phpredis 6; it was measured on the one above, with which it works'],
        ['Laravel', 'not measured: version 13 of Debian testing needs PHP 8.3'],
        ['servers and tools', $list($on['servers'])],
        ['Redis', "on this host, TCP on the loopback or a unix socket, with a password; $redis: nothing is kept on disk"],
        ['memcached', "on this host, TCP on the loopback or a unix socket; {$on['memcached_threads']} threads"],
        ['MariaDB', "on this host, a unix socket; $settings; MySQL with the same, where it has them"],
        ['token_bucket', 'defaults, but `timeout_ms` and `connect_timeout_ms` of 5000 and `on_error=throw`, so that no call of a busy machine is decided elsewhere unseen; in the outage all defaults'],
        ['connections', 'kept by each process for all its calls; in php-fpm `pconnect` for phpredis'],
        ['phpredis, php-memcached, php-memcache, PDO', 'defaults; php-memcached with TCP_NODELAY; symfony on PDO with statements that PDO prepares itself, its default; in the outage as its section says'],
    ], 'll');
}
