--TEST--
Decision: wait() sleeps what is left of a reservation, signals or not; denied it returns at once
--INI--
token_bucket.test_clock=1
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
use TokenBucket\{ArrayStorage, Compound, TestClock};
require __DIR__ . '/../utils.inc';

TestClock::freeze(1_000);
$bucket = new TokenBucket(new ArrayStorage, 'x', 10, 2);
echo 'nothing to wait for: ', json_encode([$bucket->attempt(10)->wait(), $bucket->peek()->wait(), $bucket->attempt()->wait(), (new Compound($bucket))->attempt(0)->wait()]), "\n";
$first = $bucket->reserve(4);
$second = $bucket->reserve(2);
$denied = $bucket->reserve(2, 1.0);
echo 'reserved: ', $first->getWait(), ' ', $second->getWait(), ' ', json_encode($denied->isAccepted()), "\n";
// The frozen clock is advanced: four tokens are due after two seconds, the next two one second later.
echo 'denied: ', json_encode($denied->wait()), ' ', $bucket->peek(0)->getResetAfter(), "\n";
echo 'first: ', json_encode($first->wait()), ' ', $bucket->peek(0)->getResetAfter(), ' ', json_encode($first->wait()), "\n";
TestClock::advance(0.75);
echo 'second: ', json_encode($second->wait()), ' ', $bucket->peek(0)->getResetAfter(), ', ', $second->getWait(), " as before\n";
echo 'all at once: ', json_encode([$first->wait(), $second->wait()]), ' ', $bucket->peek(0)->getResetAfter(), "\n";
// A dry run waits for nothing.
$dry = new TokenBucket('array:?enforce=0', 'dry', 1, 0.001);
$dry->consume();
echo 'dry run: ', json_encode($dry->reserve()->wait()), ' ', $dry->peek(0)->getResetAfter(), "\n";
// Never longer than the wait, though the clock is another one now.
$late = $bucket->reserve(1);
TestClock::freeze(1);
echo 'another clock: ', json_encode($late->wait()), "\n";
TestClock::resume();

// The real clock, while signals arrive.
pcntl_async_signals(true);
$signals = 0;
pcntl_signal(SIGUSR1, function () use (&$signals) { $signals++; });
$parent = posix_getpid();
$child = pcntl_fork();
if ($child === 0) {
    while (posix_getppid() === $parent) {
        posix_kill($parent, SIGUSR1);
        usleep(5_000);
    }
    posix_kill(posix_getpid(), SIGKILL);
}
while ($signals === 0) {
    usleep(1_000);
}
$bucket = new TokenBucket(new ArrayStorage, 'x', 1, 4);
$bucket->consume();
$reserved = $bucket->reserve();
$signals = 0;
echo 'waited: ', json_encode($reserved->wait()), ', all of it: ', json_encode($bucket->reserve()->getWait() <= 0.25), "\n";
posix_kill($child, SIGKILL);
pcntl_waitpid($child, $status);
echo 'handlers ran: ', json_encode($signals > 0), "\n";
?>
--EXPECT--
nothing to wait for: [true,false,false,true]
reserved: 2 3 false
denied: false 8
first: true 6 true
second: true 5, 3 as before
all at once: [true,true] 5
dry run: true 2000
another clock: true
waited: true, all of it: true
handlers ran: true
