<?php
/*
 * The numbers that Prometheus answers with: those of php-fpm, exactly.
 */
declare(strict_types=1);

/** Several workers deny a limit so many times. */
const ALLOWED = 100;
const REQUESTS_AT_ONCE = 8;
const ROUNDS = 5;
const CALLS = 50;
const DENIED = REQUESTS_AT_ONCE * ROUNDS * CALLS - ALLOWED;
/** More clients than the table of 64K has slots. */
const FLOOD = 10_000;

/** Makes the traffic that the metrics count; returns when Redis was killed. */
function make_traffic(Site $site, Server $redis): float
{
    $denied = 0;
    $workers = [];
    for ($round = 0; $round < ROUNDS; $round++) {
        $answers = $site->get_at_once('traffic.php', ['name' => 'login', 'limit' => ALLOWED, 'calls' => CALLS], REQUESTS_AT_ONCE);
        foreach (array_map(json_decode(...), $answers) as $answer) {
            $denied += $answer->denied;
            $workers[$answer->worker] = true;
        }
    }
    check_same('several workers have denied', true, count($workers) > 1);
    check_same('they have denied so many calls', DENIED, $denied);

    $site->get('traffic.php', ['name' => 'trial', 'dsn' => 'shm:trial?enforce=0', 'limit' => 3, 'calls' => 10]);
    $site->get('traffic.php', ['name' => 'flood', 'dsn' => 'shm:flood', 'limit' => 10, 'clients' => FLOOD]);
    $site->get('traffic.php', ['name' => 'flood', 'dsn' => 'shm:windows', 'limit' => 5, 'clients' => FLOOD, 'window' => '1']);
    $site->get('traffic.php', ['name' => 'shared', 'dsn' => $redis->dsn(), 'limit' => 10, 'calls' => 10]);
    $killed_at = microtime(true);
    $redis->kill();
    // After a second without an answer the first call that fails is an outage.
    usleep(1_100_000);
    $site->get('traffic.php', ['name' => 'shared', 'dsn' => $redis->dsn(), 'limit' => 10, 'calls' => 7]);
    // No server has ever listened on this port.
    $site->get('traffic.php', ['name' => 'absent', 'dsn' => 'memcached://127.0.0.1:' . free_port(), 'limit' => 10, 'calls' => 4]);
    return $killed_at;
}

function check_numbers(Site $site, Prometheus $prometheus, Server $redis, float $killed_at): void
{
    $redis_label = 'server="Redis at 127.0.0.1:' . $redis->port . '"';
    foreach ([
        'token_bucket_denied_total{limit="login"}' => DENIED,
        'token_bucket_checks_total{limit="login"}' => DENIED + ALLOWED,
        'token_bucket_would_deny_total{limit="trial"}' => 7,
        'token_bucket_checks_total{limit="trial"}' => 10,
        'token_bucket_denied_total{limit="trial"}' => 0,
        'token_bucket_checks_total{limit="shared"}' => 17,
        'token_bucket_degraded_total{limit="shared"}' => 7,
        'token_bucket_degraded_total{limit="absent"}' => 4,
        "token_bucket_server_up{{$redis_label}}" => 0,
        "token_bucket_server_outages_total{{$redis_label}}" => 1,
        'token_bucket_server_up{server=~"memcached at 127.0.0.1:.*"}' => 0,
        'token_bucket_store_errors_total{limit="shared"} > bool 0' => 1,
        'token_bucket_limits_file_valid' => 1,
        'up' => 1,
    ] as $expression => $expected) {
        check_same($expression, (float) $expected, $prometheus->await($expression, (float) $expected));
    }
    $since = $prometheus->value("token_bucket_server_state_change_timestamp_seconds{{$redis_label}}");
    // The clock may be set a little meanwhile.
    $is_right = is_float($since) && $since > $killed_at - 1 && $since < microtime(true) + 1;
    check_same("Redis is down since it was killed at $killed_at: $since", true, $is_right);
    check_tables($site, $prometheus);
}

/** The tables' numbers are those of status(). */
function check_tables(Site $site, Prometheus $prometheus): void
{
    $tables = json_decode($site->get('status.php'), true)['tables'];
    $by_name = array_column($tables, null, 'name');
    check_same('the flood has evicted buckets', true, $by_name['flood']['evictions'] > 1_000);
    check_same('newcomers were denied', true, $by_name['windows']['denied_newcomers'] > 1_000);
    $keys = [
        'bytes' => 'bytes',
        'slots' => 'slots',
        'used_slots' => 'used',
        'evictions_total' => 'evictions',
        'denied_newcomers_total' => 'denied_newcomers',
    ];
    foreach ($tables as $table) {
        $selector = "{table=\"$table[name]\",kind=\"$table[holds]\"}";
        foreach ($keys as $metric => $key) {
            $expression = "token_bucket_table_$metric$selector";
            check_same($expression, (float) $table[$key], $prometheus->await($expression, (float) $table[$key]));
        }
    }
}

/** A reset, a server's return and a mistake in the limits file. */
function check_changes(Site $site, Prometheus $prometheus, Server $redis, string $limits_file): void
{
    // In force only after a while, in which the rest is looked at.
    file_put_contents($limits_file, "[api]\nlimit = many\ninterval = 60\n");
    $redis->start();

    $login = 'token_bucket_denied_total{limit="login"}';
    $site->get('reset.php');
    check_same('after a reset the limit is left out until its next call', null, $prometheus->await($login, null));
    $site->get('traffic.php', ['name' => 'login', 'limit' => ALLOWED, 'calls' => 7]);
    check_same('then it counts from zero', 7.0, $prometheus->await($login, 7.0));
    check_same('Prometheus sees one reset', 1.0, $prometheus->await("resets({$login}[5m])", 1.0));
    $increase = $prometheus->value("increase({$login}[5m])");
    // Prometheus extrapolates to the ends of the range.
    $is_right = is_float($increase) && $increase >= 7 && $increase < DENIED / 2;
    check_same("the increase over the reset is at least the 7 calls, and not the old count: $increase", true, $is_right);
    $least = fn (string $function): float|string|null => $prometheus->value("min_over_time($function({$login}[30s])[5m:1s])");
    check_same('a delta, which knows no resets, is negative', true, comes_true(fn (): bool => $least('delta') < 0, 20));
    $rate = $least('rate');
    check_same("a rate never is: $rate at least", true, is_float($rate) && $rate >= 0);

    check_same('a mistake in the limits file', 0.0, $prometheus->await('token_bucket_limits_file_valid', 0.0));
    check_same('the page is whole all the same', 1.0, $prometheus->value('up'));

    $up = 'token_bucket_server_up{server="Redis at 127.0.0.1:' . $redis->port . '"}';
    comes_true(function () use ($site, $redis, $prometheus, $up): bool {
        $site->get('traffic.php', ['name' => 'shared', 'dsn' => $redis->dsn()]);
        return $prometheus->value($up) === 1.0;
    }, 20);
    check_same('a server that is back', 1.0, $prometheus->value($up));
}
