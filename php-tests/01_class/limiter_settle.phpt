--TEST--
A request that began before the operator shortened an interval gives back what a call costs now
--INI--
token_bucket.limits={PWD}/limiter_settle.limits.ini
token_bucket.test_clock=1
--FILE--
<?php
use function TokenBucket\limiter;

/** The operator's file: ten in so many seconds. */
function limit_interval(int $seconds): void
{
    file_put_contents(__DIR__ . '/limiter_settle.limits.ini', "[api]\nlimit = 10\ninterval = $seconds\nstorage = array:\n");
}

function count_accepted(): int
{
    for ($n = 0; limiter('api', 'a')->consume(); $n++);
    return $n;
}

TokenBucket\TestClock::freeze(1_000_000);
limit_interval(3_600);
$decision = limiter('api', 'a')->attempt();
limit_interval(10);
// A worker looks at the file once a second, and leaves one alone that was just written.
do {
    usleep(100_000);
} while (limiter('api', 'b')->peek(0)->getHeaders()['RateLimit-Policy'] !== '"api";q=10;w=10');
echo count_accepted() + 1, " of 10\n";
var_dump($decision->refund());
echo count_accepted(), " more\n";
?>
--CLEAN--
<?php
unlink(__DIR__ . '/limiter_settle.limits.ini');
?>
--EXPECT--
1 of 10
bool(true)
1 more
