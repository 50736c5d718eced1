<?php
/*
 * The section on the machine and the versions.
 */

function introduction(): string
{
    $on = kept('environment');
    $rounds = array_map(fn ($subject) => kept($subject)['rounds'], ['latency', 'throughput', 'server_cpu', 'over_admission', 'page']);
    $machine = ($on['virtual'] ? 'a virtual machine with ' : '') . "{$on['cores']} cores of an {$on['cpu']}";
    $busy = $on['load'] < 0.5 ? '' : ' **The machine was busy with other things when this run began** (load ' . digits($on['load']) . ').';
    return <<<MD
        Measured on {$on['date']} on $machine, {$on['system']}, PHP {$on['php']}; [all of it](#the-machine-and-the-versions) is below. This page is
        written by `make bench` from what it measured; to repeat it: `make bench`.

        Everything is measured in each of several rounds, in another order each time (here {$rounds[0]} for latency, {$rounds[1]} for throughput, {$rounds[2]} for the servers' processor time, {$rounds[3]} for
        over-admission, {$rounds[4]} for the page; in memory over-admission ten times as often). A number is the median of the rounds; a ratio is the median of each round's ratio, so
        what slows down a whole round does not show in it.{$busy} Other machines give other numbers: the ratios are what to look at.

        MD;
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
        ['load when it began', digits($on['load']) . ' (an idle machine has about 0)'],
        ['PHP', "{$on['php']}; php-cli without php.ini, opcache and JIT off; in php-fpm and php-cgi opcache on, JIT off"],
        ['extensions', $list($on['extensions'])],
        ['Symfony', $list($on['symfony'])],
        ['servers and tools', $list($on['servers'])],
        ['Redis', "on this host, TCP on the loopback or a unix socket, with a password; $redis: nothing is kept on disk"],
        ['memcached', "on this host, TCP on the loopback or a unix socket; {$on['memcached_threads']} threads"],
        ['MariaDB', "on this host, a unix socket; $settings; MySQL with the same, where it has them"],
        ['token_bucket', 'defaults, but `timeout_ms` and `connect_timeout_ms` of 5000 and `on_error=throw`, so that no call of a busy machine is decided elsewhere unseen; in the outage all defaults'],
        ['connections', 'kept by each process for all its calls'],
        ['phpredis, php-memcached, php-memcache', 'defaults; php-memcached with TCP_NODELAY; in the outage as its section says'],
    ], 'll');
}
