--TEST--
Decision: a late refund() gives back no token that has come back by itself; during a block a cost above the capacity waits for ever
--INI--
token_bucket.test_clock=1
--FILE--
<?php
use TokenBucket\TestClock;

foreach (['array:', 'shm:'] as $dsn) {
    TestClock::freeze(1_000_000);
    $bucket = TokenBucket::per($dsn, 'late refund', 10, 100);
    $bucket->reset();
    $left = fn (): int => $bucket->peek()->getRemainingTokens();

    // All of it has come back and was taken again.
    $decision = $bucket->attempt(10);
    TestClock::advance(100);
    $bucket->consume(10);
    echo json_encode([$decision->refund(), $left()]), ' ';

    // Four of ten have come back: six are missing.
    $bucket->reset();
    $decision = $bucket->attempt(10);
    TestClock::advance(40);
    $bucket->consume(4);
    echo json_encode([$decision->refund(), $left()]), ' ';

    // A busy bucket: what is missing since is more than was taken.
    $bucket->reset();
    $bucket->consume(8);
    $decision = $bucket->attempt(2);
    TestClock::advance(30);
    $bucket->consume(3);
    echo json_encode([$decision->refund(), $left()]), ' ';

    $bucket->block(60);
    echo json_encode([$bucket->attempt(10)->getRetryAfter(), $bucket->attempt(11)->getRetryAfterSeconds(), $bucket->takeUpTo(20, 11)->getRetryAfterSeconds()]), "\n";
}

// The server does not answer: a dry run fails no refund.
$bucket = new TokenBucket('redis://127.0.0.1:1?enforce=0&on_error=throw', 'late refund', 5, 1);
var_dump($bucket->attempt()->refund());
?>
--EXPECT--
[false,0] [true,5] [true,2] [60,null,null]
[false,0] [true,5] [true,2] [60,null,null]
bool(false)
