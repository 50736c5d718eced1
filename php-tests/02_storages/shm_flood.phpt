--TEST--
SharedMemoryStorage: a flood frees no denied client in a table of one limit, and affects no other table; a newcomer waits for one token
--INI--
token_bucket.test_clock=1
token_bucket.shm_size=64K
--FILE--
<?php
use TokenBucket\TestClock;

const CLIENTS = 100;
$bucket = fn (string $identifier): TokenBucket => new TokenBucket('shm:flood-logins', $identifier, 10, 1 / 30);

TestClock::freeze(1_000_000);
for ($i = 0; $i < CLIENTS; $i++) {
    $bucket("denied-$i")->consume(10);
    for ($n = 0; $n < 60; $n++) {
        $bucket("hammering-$i")->check();
    }
}
// A hundred times what the table holds, within 50 seconds. And another table's limits.
for ($i = 0; $i < 50_000; $i++) {
    $i % 1000 || TestClock::advance(1);
    $bucket("flood-$i")->consume();
    (new TokenBucket('shm:flood-pages', "flood-$i", 10, 10))->consume();
}
/** Tokens that all of a kind get, ten tries each. */
$got = function (string $kind) use ($bucket): int {
    for ($got = $i = 0; $i < CLIENTS; $i++) {
        for ($n = 0; $n < 10; $n++) {
            $got += (int) $bucket("$kind-$i")->consume();
        }
    }
    return $got;
};
$new = $got('new');
echo 'newcomers: ', $new < CLIENTS ? 'few' : $new, ' of ', 10 * CLIENTS, "\n";
TestClock::advance(31);
// Who went on after he was denied has to be silent for all of the 300 seconds.
echo 'hammering: ', $got('hammering'), "\n";
// A token comes each 30 seconds, and it was 81.
$denied = $got('denied');
echo 'denied: ', $denied <= 2 * CLIENTS ? 'at most two each' : $denied, "\n";
TestClock::advance(31);
echo 'newcomers later: ', $got('newer') > 0 ? 'let in' : 'none', "\n";
echo filesize(glob(ini_get('token_bucket.shm_path') . '/token_bucket-*/flood-logins.v13')[0]), " bytes\n";
?>
--EXPECT--
newcomers: few of 1000
hammering: 0
denied: at most two each
newcomers later: let in
65536 bytes
