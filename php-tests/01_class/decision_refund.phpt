--TEST--
Decision: refund(): gives back what the decision took, once
--INI--
token_bucket.test_clock=1
--FILE--
<?php
require __DIR__ . '/../utils.inc';
use TokenBucket\{ArrayStorage, Compound, FixedWindow, LeakyBucket, SharedMemoryStorage, SlidingWindow, TestClock};

$kinds = [
    'TokenBucket' => fn ($storage, string $id) => TokenBucket::per($storage, $id, 10, 100),
    'LeakyBucket' => fn ($storage, string $id) => new LeakyBucket($storage, $id, 10, 100),
    'FixedWindow' => fn ($storage, string $id) => new FixedWindow($storage, $id, 10, 100),
    'SlidingWindow' => fn ($storage, string $id) => new SlidingWindow($storage, $id, 10, 100),
    'Compound' => fn ($storage, string $id) => new Compound(TokenBucket::per($storage, $id, 10, 100), new FixedWindow($storage, "second $id", 20, 100)),
];
foreach ([new SharedMemoryStorage('shm:'), new ArrayStorage] as $storage) {
    echo $storage::class, "\n";
    foreach ($kinds as $kind => $make) {
        TestClock::freeze(1_000_000);
        $limiter = $make($storage, "$kind of " . __FILE__);
        $left = fn (): int => $limiter->peek(0)->getRemainingTokens();
        // What each step gives: whether something was given back, and what is left then.
        $steps = [];
        $first = $limiter->attempt(3);
        $second = $limiter->attempt(4);
        $steps[] = [$left(), $first->getTokens(), $first->refund(), $left(), $first->refund(), $left(), $second->refund(), $left()];
        // Nothing was taken.
        $limiter->consume(9);
        $steps[] = [$limiter->attempt(2)->refund(), $limiter->attempt(0)->refund(), $limiter->peek(1)->refund(), $limiter->peek(2)->refund(), $left()];
        // Never above the limit.
        $limiter->reset();
        $decision = $limiter->attempt(5);
        $limiter->refund(3);
        $steps[] = [$decision->refund(), $left()];
        // After a reset nothing is missing.
        $decision = $limiter->attempt(5);
        $limiter->reset();
        $is_given_back = $decision->refund();
        $steps[] = [str_ends_with($kind, 'Window') ? $is_given_back : '-', $left()];
        // Blocked meanwhile.
        $decision = $limiter->attempt(5);
        $limiter->block(50);
        $steps[] = [$decision->refund(), $limiter->peek(0)->isAccepted(), $limiter->attempt()->refund()];
        TestClock::advance(51);
        $steps[] = [$left(), $decision->refund(), $left()];
        // Half of the time has come back by itself, in a bucket only.
        $decision = $limiter->attempt(6);
        TestClock::advance(30);
        $steps[] = [$left(), $decision->refund(), $left()];
        $limiter->reset();
        // All of the time.
        $decision = $limiter->attempt(6);
        TestClock::advance(101);
        $is_given_back = $decision->refund();
        $steps[] = [str_ends_with($kind, 'Window') ? $is_given_back : '-', $left()];
        // Hits of the next window are not those of the decision.
        $limiter->reset();
        $decision = $limiter->attempt(6);
        TestClock::advance(101);
        $limiter->consume(2);
        $steps[] = [$left(), str_ends_with($kind, 'Window') ? $decision->refund() : '-', $left()];
        echo $kind, ': ', implode(' ', array_map(json_encode(...), $steps)), "\n";
    }

    // The other calls that take.
    $bucket = $kinds['TokenBucket']($storage, 'takers of ' . __FILE__);
    $bucket->consume(6);
    $part = $bucket->takeUpTo(7);
    $reserved = $bucket->reserve(5);
    $denied = $bucket->reserve(1, 10);
    echo json_encode([$part->getTokens(), $reserved->getWait(), $bucket->peek()->getRetryAfter()]), ' ',
        json_encode([$reserved->refund(), $bucket->peek()->getRetryAfter(), $denied->refund(), $part->refund(), $part->refund(), $bucket->peek()->getRemainingTokens()]), "\n";

    // In a dry run what was taken is given back, and what was not is not.
    foreach ($kinds as $kind => $make) {
        $limiter = $make($storage instanceof ArrayStorage ? 'array:?enforce=0' : 'shm:?enforce=0', "dry $kind of " . __FILE__);
        [$taken, $denied] = [$limiter->attempt(8), $limiter->attempt(7)];
        echo json_encode([$taken->getTokens(), $denied->isAccepted(), $denied->getTokens(), $denied->refund(), $limiter->peek()->getRemainingTokens(), $taken->refund(), $limiter->peek()->getRemainingTokens()]), ' ';
    }
    echo "\n";
}

// The decision remembers the limit of its call, and outlives the limiter.
$bucket = new TokenBucket('array:', 'gone', 10, 1);
$decision = $bucket->attempt(4);
$bucket->__construct('array:', 'other', 1, 1);
var_dump($bucket->consume());
unset($bucket);
var_dump($decision->refund(), (new TokenBucket('array:', 'gone', 10, 1))->peek()->getRemainingTokens(), (new TokenBucket('array:', 'other', 1, 1))->consume());

// Only failures count: twenty logins, of which every fourth fails.
$bucket = TokenBucket::per('array:', 'login:x', 5, 300);
$answers = '';
for ($i = 1; $i <= 24; $i++) {
    $decision = $bucket->attempt();
    $answers .= (int) $decision->isAccepted();
    $i % 4 === 0 || $decision->refund();
}
echo $answers, ' ', $bucket->peek()->getRemainingTokens(), "\n";
?>
--EXPECT--
TokenBucket\SharedMemoryStorage
TokenBucket: [3,3,true,6,false,6,true,10] [false,false,false,false,1] [true,10] ["-",10] [false,false,false] [10,false,10] [7,true,10] ["-",10] [8,"-",8]
LeakyBucket: [3,3,true,6,false,6,true,10] [false,false,false,false,1] [true,10] ["-",10] [false,false,false] [10,false,10] [7,true,10] ["-",10] [8,"-",8]
FixedWindow: [3,3,true,6,false,6,true,10] [false,false,false,false,1] [true,10] [false,10] [false,false,false] [10,false,10] [4,true,10] [false,10] [8,false,8]
SlidingWindow: [3,3,true,6,false,6,true,10] [false,false,false,false,1] [true,10] [false,10] [false,false,false] [10,false,10] [4,true,10] [false,10] [8,false,8]
Compound: [3,3,true,6,false,6,true,10] [false,false,false,false,1] [true,10] ["-",10] [false,false,false] [10,false,10] [7,true,10] ["-",10] [8,"-",8]
[4,50,60] [true,10,false,true,false,4]
[8,true,7,false,2,true,10] [8,true,7,false,2,true,10] [8,true,7,false,2,true,10] [8,true,7,false,2,true,10] [8,true,7,true,2,true,10] 
TokenBucket\ArrayStorage
TokenBucket: [3,3,true,6,false,6,true,10] [false,false,false,false,1] [true,10] ["-",10] [false,false,false] [10,false,10] [7,true,10] ["-",10] [8,"-",8]
LeakyBucket: [3,3,true,6,false,6,true,10] [false,false,false,false,1] [true,10] ["-",10] [false,false,false] [10,false,10] [7,true,10] ["-",10] [8,"-",8]
FixedWindow: [3,3,true,6,false,6,true,10] [false,false,false,false,1] [true,10] [false,10] [false,false,false] [10,false,10] [4,true,10] [false,10] [8,false,8]
SlidingWindow: [3,3,true,6,false,6,true,10] [false,false,false,false,1] [true,10] [false,10] [false,false,false] [10,false,10] [4,true,10] [false,10] [8,false,8]
Compound: [3,3,true,6,false,6,true,10] [false,false,false,false,1] [true,10] ["-",10] [false,false,false] [10,false,10] [7,true,10] ["-",10] [8,"-",8]
[4,50,60] [true,10,false,true,false,4]
[8,true,7,false,2,true,10] [8,true,7,false,2,true,10] [8,true,7,false,2,true,10] [8,true,7,false,2,true,10] [8,true,7,true,2,true,10] 
bool(true)
bool(true)
int(10)
bool(false)
111111111111111111110000 0
