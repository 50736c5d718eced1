<?php
/*
 * Nanoseconds a call, all cases in turn in each of several rounds, and what they are beside each
 * other. Run by `make bench`.
 */

require '/usr/share/php/Symfony/Component/RateLimiter/autoload.php';
require '/usr/share/php/Symfony/Component/Cache/autoload.php';
require '/usr/share/php/Symfony/Component/Lock/autoload.php';
require __DIR__ . '/cases.php';

const ROUNDS = 15;

$cases = cases();
$calls = array_fill_keys(array_keys($cases), 200_000);
$calls['symfony'] = $calls['locked'] = 4_000;

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
unset($rounds);

/** The least and the median of a case, less those of the loop around it. */
$time = function (string $name) use ($times): array {
    $around = $times[$name === 'many' || $name === 'apcu_many' ? 'pick' : 'loop'];
    $rounds = $times[$name];
    return [$rounds[0] - $around[0], $rounds[intdiv(ROUNDS, 2)] - $around[intdiv(ROUNDS, 2)]];
};

$rows = [
    ['an empty native method (`Decision::isAccepted()`)', 'native', null],
    ['an empty native method (`SplFixedArray::getSize()`)', 'spl', null],
    ['`consume()`, one hot bucket', 'consume', 'apcu_inc'],
    ['', 'consume', 'native'],
    ['`consume()`, denied', 'denied', 'consume'],
    ['`consume()`, 100,000 identifiers at random', 'many', 'apcu_many'],
    ['`attempt()`', 'attempt', 'apcu_pair'],
    ['`check($ip, 10, 300)`', 'check', 'apcu_pair'],
    ['`new TokenBucket` and `consume()`', 'new', 'plain'],
    ['a plain PHP object with the same constructor and one method', 'plain', null],
    ['`apcu_inc()`', 'apcu_inc', null],
    ['`apcu_inc()`, 100,000 keys at random', 'apcu_many', null],
    ['`apcu_fetch()` and `apcu_store()`', 'apcu_pair', null],
    ['symfony/rate-limiter, token bucket on APCu, no lock', 'symfony', 'consume'],
    ['symfony/rate-limiter, with its flock lock', 'locked', 'consume'],
];
$beside = [
    'native' => 'an empty native method',
    'apcu_inc' => '`apcu_inc()`',
    'apcu_many' => '`apcu_inc()` on as many keys',
    'apcu_pair' => '`apcu_fetch()` and `apcu_store()`',
    'consume' => '`consume()`',
    'plain' => 'the plain object',
];

printf("PHP %s, %s, %d rounds, opcache and JIT off\n\n", PHP_VERSION, php_uname('m'), ROUNDS);
echo "| ns per call | min | median | ratio of medians |\n|---|---:|---:|---|\n";
foreach ($rows as [$what, $name, $than]) {
    [$least, $median] = $time($name);
    $ratio = $than === null ? '' : sprintf('%.2f x %s', $median / $time($than)[1], $beside[$than]);
    $numbers = $what === '' ? ['', ''] : [number_format($least, 1), number_format($median, 1)];
    printf("| %s | %s | %s | %s |\n", $what, ...[...$numbers, $ratio]);
}
