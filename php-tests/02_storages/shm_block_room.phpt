--TEST--
SharedMemoryStorage: a block of a SlidingWindow takes one slot, whatever its limit
--INI--
token_bucket.test_clock=1
token_bucket.shm_size=64K
--FILE--
<?php
use TokenBucket\{FixedWindow, SlidingWindow, TestClock};

TestClock::freeze(1_000_000);
$login = fn (int $i) => new SlidingWindow('shm:block-room', "login-$i", 1_024, 3600);
for ($i = 0; $i < 4; $i++) {
    echo $login($i)->consume(1_000) ? 'accepted' : 'denied', ', then blocked', "\n";
    $login($i)->block(900);
}
$accepted = [];
for ($i = 0; $i < 200; $i++) {
    $clients = [
        new TokenBucket('shm:block-room', "client-$i", 10, 1 / 30),
        new FixedWindow('shm:block-room', "client-$i", 10, 300),
        new SlidingWindow('shm:block-room', "client-$i", 2, 300),
    ];
    foreach ($clients as $client) {
        $accepted[$client::class] = ($accepted[$client::class] ?? 0) + (int) $client->consume();
    }
}
foreach ($accepted as $class => $count) {
    // Places come from a random secret, so that a set may be full by chance.
    echo "$class: ", $count >= 190 ? 'nearly all' : "$count of 200", " new clients\n";
}
$ask = fn (): string => implode(' ', array_map(fn (int $i): string => var_export($login($i)->consume(), true), range(0, 3)));
TestClock::advance(899.9);
echo $ask(), "\n";
TestClock::advance(0.2);
echo $ask(), ', ', $login(0)->peek()->getRemainingTokens(), " left\n";
?>
--EXPECT--
accepted, then blocked
accepted, then blocked
accepted, then blocked
accepted, then blocked
TokenBucket: nearly all new clients
TokenBucket\FixedWindow: nearly all new clients
TokenBucket\SlidingWindow: nearly all new clients
false false false false
true true true true, 1023 left
