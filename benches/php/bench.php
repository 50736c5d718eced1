<?php
/*
 * What a call takes, all cases in turn in each of several rounds, and what they are beside each
 * other. Run by `make bench`.
 *
 * Each case is a function that makes $n calls in a loop of its own; the empty loop is taken off.
 */

require '/usr/share/php/Symfony/Component/RateLimiter/autoload.php';
require '/usr/share/php/Symfony/Component/Cache/autoload.php';
require '/usr/share/php/Symfony/Component/Lock/autoload.php';
require __DIR__ . '/memory.php';
require __DIR__ . '/servers.php';

const ROUNDS = 15;

// php-memcache is older than PHP 8.2.
error_reporting(E_ALL & ~E_DEPRECATED);

/** @return array<string, float[]> nanoseconds a call, of every round */
function measure(array $cases, array $calls): array
{
    $times = [];
    for ($round = 0; $round < ROUNDS; $round++) {
        foreach ($cases as $name => $case) {
            $start = hrtime(true);
            $case($calls[$name]);
            $times[$name][] = (hrtime(true) - $start) / $calls[$name];
        }
    }
    foreach ($times as &$rounds) {
        sort($rounds);
    }
    return $times;
}

/** A table of the least and the median of each case, less those of the loop around it. */
function table(string $head, array $rows, array $names, array $times, float $unit): void
{
    $time = function (string $name) use ($times, $unit): array {
        $around = $times[$name === 'many' || $name === 'apcu_many' ? 'pick' : 'loop'];
        $rounds = $times[$name];
        return [($rounds[0] - $around[0]) / $unit, ($rounds[intdiv(ROUNDS, 2)] - $around[intdiv(ROUNDS, 2)]) / $unit];
    };
    echo "\n| $head | min | median | ratio of medians |\n|---|---:|---:|---|\n";
    foreach ($rows as [$what, $name, $than]) {
        [$least, $median] = $time($name);
        $ratio = $than === null ? '' : ratio($median / $time($than)[1]) . " x $names[$than]";
        $numbers = $what === '' ? ['', ''] : array_map(fn ($n) => number_format($n, $n < 1 ? 2 : 1), [$least, $median]);
        printf("| %s | %s | %s | %s |\n", $what, ...[...$numbers, $ratio]);
    }
}

/** With the digits that matter. */
function ratio(float $ratio): string
{
    return sprintf($ratio < 0.1 ? '%.4f' : '%.2f', $ratio);
}

printf("PHP %s, %s, %d rounds, opcache and JIT off\n", PHP_VERSION, php_uname('m'), ROUNDS);

$cases = memory_cases();
$calls = array_fill_keys(array_keys($cases), 200_000);
$calls['symfony'] = $calls['locked'] = 4_000;
table('shared memory, ns per call', memory_rows(), MEMORY_NAMES, measure($cases, $calls), 1);

$cases = server_cases();
$calls = array_fill_keys(array_keys($cases), 1_000);
$calls['loop'] = $calls['denied'] = 200_000;
table('servers, µs per call', server_rows(), SERVER_NAMES, measure($cases, $calls), 1e3);
