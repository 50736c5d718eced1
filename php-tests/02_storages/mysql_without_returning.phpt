--TEST--
MariaDB as MySQL, which does not tell in one statement what it has done: 4,000 operations, each decided as the bucket in memory does
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.on_error=throw
token_bucket.timeout_ms=20000
token_bucket.connect_timeout_ms=20000
token_bucket.deny_cache=0
token_bucket.test_clock=1
--FILE--
<?php
use TokenBucket\TestClock;

require dirname(__DIR__) . '/servers.inc';

$server = new Server('mariadbd', ['--version=8.0.33']);
$dsn = prepared($server->dsn());
mt_srand(1);
$one_of = fn (array $values): mixed => $values[mt_rand(0, count($values) - 1)];
$accepted = $denied = 0;
for ($round = 0; $round < 100; $round++) {
    TestClock::freeze(1_000_000 + mt_rand(0, 1_000_000) / 1000);
    $is_window = $round % 4 === 0;
    for ($i = 0; $i < 40; $i++) {
        // Now and then another limit on the same bucket.
        if ($i % 10 === 0) {
            $capacity = $one_of([1, 2, 3, 7, 1000, 2_147_483_647]);
            $rate = $capacity > 1000 ? 1000 : $one_of([0.001, 1 / 3, 7, 12.345, 1e9]);
            $interval = $one_of([0.001, 1, 60]);
            $limiters = array_map(fn (string $dsn): object => $is_window
                ? new TokenBucket\FixedWindow($dsn, "x $round", min($capacity, 1_000_000), $interval)
                : new TokenBucket($dsn, "x $round", $capacity, $rate), ['array:', $dsn]);
        }
        $operation = $one_of(['attempt', 'attempt', 'attempt', 'peek', 'refund', 'reset', ...($is_window ? [] : ['check', 'check', 'check', 'reserve'])]);
        $arguments = match ($operation) {
            'reset', 'check' => [],
            'reserve' => [mt_rand(0, 3), $one_of([null, mt_rand(0, 20) / 3])],
            default => [$one_of([0, 1, 1, 2, 3, $capacity, $capacity + 1])],
        };
        $answers = array_map(fn (object $limiter): string => json_encode($limiter->$operation(...$arguments)), $limiters);
        if ($answers[0] !== $answers[1]) {
            exit("round $round, $operation(" . implode(', ', $arguments) . ") of $capacity at $rate: $answers[0], but the server: $answers[1]\n");
        }
        $accepted += (int) str_contains($answers[1], '"accepted":true');
        $denied += (int) str_contains($answers[1], '"accepted":false');
        TestClock::advance($one_of([0, 0, 1e-9, 0.000123456, 0.01, 0.5, 3]));
        if (mt_rand(1, 50) === 1) {
            TestClock::freeze(1_000_000 + mt_rand(-100_000, 1_000_000) / 1000); // a clock that is put back, or ahead
        }
    }
}
echo $accepted > 500 && $denied > 500 ? 'the same' : "$accepted, $denied", "\n";
?>
--EXPECT--
the same
