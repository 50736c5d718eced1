--TEST--
Decision: settle(): a call that estimated its cost at nothing is charged what it cost, on every limit; a peek(), a denied and an exempt call are not
--INI--
token_bucket.test_clock=1
token_bucket.limits={PWD}/decision_settle_nothing.limits.ini
--FILE--
<?php
require dirname(__DIR__) . '/utils.inc';
use TokenBucket\{CalendarWindow, Compound, FirstOf, FixedWindow, LeakyBucket, SlidingWindow, TestClock};
use function TokenBucket\limiter;

TestClock::freeze(1_000_000);
foreach ([
    TokenBucket::per('shm:', 'settled ' . getmypid(), 70, 700),
    new LeakyBucket('array:', 'x', 70, 700),
    new FixedWindow('shm:', 'settled ' . getmypid(), 70, 700),
    new CalendarWindow('array:', 'x', 70, 'day'),
    new SlidingWindow('array:', 'x', 70, 700),
    new Compound(new FixedWindow('array:', 'a', 70, 700), TokenBucket::per('array:', 'b', 90, 700)),
    new FirstOf(new FixedWindow('array:', 'c', 70, 700), TokenBucket::per('array:', 'd', 90, 700)),
] as $limiter) {
    $left = fn (): int => $limiter->peek(0)->getRemainingTokens();
    $answers = [$left()];
    // The first call of all, and one beside others.
    foreach ([33, 4] as $cost) {
        $free = $limiter->attempt(0);
        array_push($answers, $free->settle($cost), $free->getRemainingTokens(), $left(), $free->settle($cost));
    }
    // More than there is, and nothing.
    array_push($answers, $limiter->attempt(0)->settle(500), $left(), $limiter->attempt(0)->settle(0), $left());
    // These are not charged.
    array_push($answers, $limiter->peek(0)->settle(5), $limiter->attempt(1)->settle(5));
    echo $limiter::class, ': ', json_encode($answers), "\n";
}
// A Compound that denies charges none of them.
$both = new Compound(new FixedWindow('array:', 'e', 70, 700), TokenBucket::per('array:', 'f', 9, 700));
var_dump($both->attempt([0, 10])->settle([5, 5]), $both->attempt([0, 9])->settle([5, 9]), $both->attempt([0, 1])->settle([5, 5]));
// If another call has opened a window since, that one is charged.
$window = new FixedWindow('array:', 'late', 70, 700);
$free = $window->attempt(0);
$window->consume(10);
var_dump($free->settle(20), $window->peek()->getRemainingTokens());
$limiter->block(60);
var_dump($limiter->attempt(0)->settle(5));
file_put_contents(__DIR__ . '/decision_settle_nothing.limits.ini', "[free]\nlimit = 9\ninterval = 90\nstorage = \"array:\"\nexcept = us\n");
var_dump(limiter('free', 'us')->attempt(0)->settle(5), limiter('free', 'them')->attempt(0)->settle(5));
?>
--CLEAN--
<?php
@unlink(__DIR__ . '/decision_settle_nothing.limits.ini');
?>
--EXPECT--
TokenBucket: [70,true,37,37,false,true,33,33,false,true,0,false,0,false,false]
TokenBucket\LeakyBucket: [70,true,37,37,false,true,33,33,false,true,0,false,0,false,false]
TokenBucket\FixedWindow: [70,true,37,37,false,true,33,33,false,true,0,false,0,false,false]
TokenBucket\CalendarWindow: [70,true,37,37,false,true,33,33,false,true,0,false,0,false,false]
TokenBucket\SlidingWindow: [70,true,37,37,false,true,33,33,false,true,0,false,0,false,false]
TokenBucket\Compound: [70,true,37,37,false,true,33,33,false,true,0,false,0,false,false]
TokenBucket\FirstOf: [70,true,37,37,false,true,33,33,false,true,0,false,0,false,true]
bool(false)
bool(true)
bool(false)
bool(true)
int(40)
bool(false)
bool(false)
bool(true)
