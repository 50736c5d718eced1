--TEST--
TokenBucket: takeUpTo(): takes what is there, if that is enough
--INI--
token_bucket.test_clock=1
--FILE--
<?php
use TokenBucket\Decision;
use TokenBucket\TestClock;

function show(Decision $decision): void
{
    echo json_encode([$decision->isAccepted(), $decision->getTokens(), $decision->getRemainingTokens(), json_decode(json_encode($decision))->retry_after, $decision->getRetryAfterSeconds()]), "\n";
}
foreach (['shm:', 'array:'] as $dsn) {
    echo $dsn, "\n";
    TestClock::freeze(1_000_000);
    $bucket = TokenBucket::per($dsn, 'batch' . __FILE__, 10, 10);
    show($bucket->takeUpTo(4));
    show($bucket->takeUpTo(4, 4));
    // Two are left.
    show($bucket->takeUpTo(4, 3));
    show($bucket->takeUpTo(2, 2));
    show($bucket->takeUpTo(5));
    // Half a token is none.
    TestClock::advance(0.5);
    show($bucket->takeUpTo(5));
    TestClock::advance(0.5);
    show($bucket->takeUpTo(5));
    // $least above the capacity is never accepted; $most above it takes what is there.
    TestClock::advance(100);
    show($bucket->takeUpTo(11, 11));
    show($bucket->takeUpTo(PHP_INT_MAX, 10));
    show($bucket->takeUpTo(PHP_INT_MAX, PHP_INT_MAX));

    // What was taken is given back, not what was asked for.
    $bucket->reset();
    $bucket->consume(7);
    $decision = $bucket->takeUpTo(9);
    var_dump($decision->refund(), $bucket->peek()->getRemainingTokens());
    // Debt: nothing until it is paid.
    $bucket->reset();
    $_ = $bucket->reserve(10);
    $_ = $bucket->reserve(2);
    show($bucket->takeUpTo(3));
    show($bucket->takeUpTo(3, 3));
    // A dry run: the caller goes on with all that it asked for.
    $dry = TokenBucket::per("$dsn?enforce=0", 'dry' . __FILE__, 3, 3);
    show($dry->takeUpTo(2));
    show($dry->takeUpTo(2));
    show($dry->takeUpTo(2));
    show($dry->takeUpTo(2, 2));
}
foreach (['open', 'closed', 'fallback'] as $policy) {
    $bucket = TokenBucket::per("redis://127.0.0.1:1?on_error=$policy", 'x', 3, 3);
    $decision = @$bucket->takeUpTo(4);
    echo $policy, ' ', json_encode([$decision->isAccepted(), $decision->getTokens()]), "\n";
}
?>
--EXPECT--
shm:
[true,4,6,0,0]
[true,4,2,0,0]
[false,0,2,1,1]
[true,2,0,0,0]
[false,0,0,1,1]
[false,0,0,0.5,1]
[true,1,0,0,0]
[false,0,10,null,null]
[true,10,0,0,0]
[false,0,0,null,null]
bool(true)
int(3)
[false,0,0,3,3]
[false,0,0,5,5]
[true,2,1,0,0]
[true,1,0,0,0]
[true,2,0,0,0]
[true,2,0,0,0]
array:
[true,4,6,0,0]
[true,4,2,0,0]
[false,0,2,1,1]
[true,2,0,0,0]
[false,0,0,1,1]
[false,0,0,0.5,1]
[true,1,0,0,0]
[false,0,10,null,null]
[true,10,0,0,0]
[false,0,0,null,null]
bool(true)
int(3)
[false,0,0,3,3]
[false,0,0,5,5]
[true,2,1,0,0]
[true,1,0,0,0]
[true,2,0,0,0]
[true,2,0,0,0]
open [true,4]
closed [false,0]
fallback [true,3]
