<?php
/*
 * Measures each call's time while its Redis is stopped, or killed and started again: every limiter in its own process,
 * all during the same outage.
 */

require __DIR__ . '/lib/bench.php';
require dirname(__DIR__, 2) . '/php-tests/servers.inc';

use Symfony\Component\Cache\Adapter\RedisAdapter;

const SECONDS = 8;
const FAILS_AT = 2;
const BACK_AT = 5;

/** The time between the beginnings of two calls, if the first has returned. */
const EVERY_NS = 2_000_000;

/** A second is split into so many parts; the slowest call of each is kept. */
const BINS = 20;

// Warnings are expected: symfony's about its cache.
set_error_handler(fn () => true);

$data = ['seconds' => SECONDS, 'fails_at' => FAILS_AT, 'back_at' => BACK_AT, 'every_ms' => EVERY_NS / 1e6, 'bin_ms' => 1000 / BINS, 'outages' => []];
foreach (['stopped', 'killed'] as $outage) {
    $server = new Server('redis+unix');
    $callers = callers("$server->folder/socket");
    $saboteur = fn (): Closure => function (int $begin) use ($server, $outage): void {
        sleep_until($begin + FAILS_AT * 1_000_000_000);
        $outage === 'stopped' ? $server->signal(SIGSTOP) : $server->kill();
        sleep_until($begin + BACK_AT * 1_000_000_000);
        $outage === 'stopped' ? $server->signal(SIGCONT) : $server->start();
        // A server that this process has restarted ends with it, so it waits until all have finished.
        sleep_until($begin + (SECONDS + 1) * 1_000_000_000);
    };
    $names = array_keys($callers);
    $results = at_once(count($names) + 1, fn (int $i) => $i < count($names) ? caller($callers[$names[$i]]) : $saboteur());
    $data['outages'][$outage] = array_combine($names, array_slice($results, 0, -1));
}
keep('outage', $data);

/**
 * The calls of each limiter. A call returns what decided: 'server', 'fallback', or 'unchecked' if the recipe accepts on failure.
 *
 * @return array<string, Closure>
 */
function callers(string $socket): array
{
    return [
        'token_bucket' => function () use ($socket): Closure {
            $bucket = new TokenBucket("redis+unix://$socket", 'outage', CAPACITY, RATE);
            return fn () => $bucket->attempt()->isDegraded() ? 'fallback' : 'server';
        },
        'phpredis' => fn () => recipe($socket, false),
        'phpredis_timeout' => fn () => recipe($socket, true),
        'symfony' => fn () => symfony_call($socket, false),
        'symfony_timeout' => fn () => symfony_call($socket, true),
    ];
}

/** A connection, with time-outs of 0.1 s or with phpredis' own. */
function connection(string $socket, bool $timeout): Redis
{
    $redis = new Redis();
    $timeout ? $redis->connect($socket, 0, 0.1, null, 0, 0.1) : $redis->connect($socket);
    return $redis;
}

/** INCR and EXPIRE; reconnects after a failure, as the next request would. */
function recipe(string $socket, bool $timeout): Closure
{
    $tries = null;
    return function () use ($socket, $timeout, &$tries): string {
        try {
            $tries ??= redis_window(connection($socket, $timeout), "outage:$timeout", CAPACITY, RATE);
            $tries(1);
            return 'server';
        } catch (RedisException) {
            $tries = null;
            return 'unchecked';
        }
    };
}

/** Its cache hides errors: the bucket starts full again, which reveals them. */
function symfony_call(string $socket, bool $timeout): Closure
{
    $capacity = 100_000;
    $limiter = null;
    return function () use ($socket, $timeout, $capacity, &$limiter): string {
        try {
            $limiter ??= symfony_limiter(new RedisAdapter(connection($socket, $timeout), 'outage'), null, "outage:$timeout", $capacity, 1 / 3600);
            return $limiter->consume()->getRemainingTokens() < $capacity - 1 ? 'server' : 'unchecked';
        } catch (RedisException) {
            $limiter = null;
            return 'unchecked';
        }
    };
}

/** Calls one limiter for the whole time. */
function caller(callable $open): Closure
{
    $call = $open();
    $call();
    return function (int $begin) use ($call): array {
        $slowest = $during = $after = $answers = [];
        for ($due = $begin; $due < $begin + SECONDS * 1_000_000_000; $due = max($due + EVERY_NS, hrtime(true))) {
            sleep_until($due);
            $start = hrtime(true);
            $answer = $call();
            $took = hrtime(true) - $start;
            $second = ($start - $begin) / 1e9;
            $bin = (int) floor($second * BINS);
            $slowest[$bin] = max($slowest[$bin] ?? 0, $took);
            if ($second >= FAILS_AT - 0.05 && $second < BACK_AT) {
                $during[] = $took;
                $answers[$answer] = ($answers[$answer] ?? 0) + 1;
            } elseif ($second >= BACK_AT && $answer === 'server') {
                $after[] = $second;
            }
        }
        return [
            'slowest_by_bin' => $slowest,
            'calls' => count($during),
            'slowest' => max($during),
            'median' => median($during),
            'answers' => $answers,
            'back_after' => $after ? max(0, $after[0] - BACK_AT) : null,
        ];
    };
}

function sleep_until(int $time): void
{
    usleep(max(0, intdiv($time - hrtime(true), 1_000)));
}
