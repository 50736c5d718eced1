--TEST--
TokenBucket: identifiers: thousands of similar and random ones have different buckets
--FILE--
<?php
/*
 * Every bucket holds one token, so that a second identifier on the same bucket would be denied. A
 * table of its own: no other test's buckets are pushed out.
 */
mt_srand(11);
$identifiers = [];
for ($i = 0; $i < 5_000; $i++) {
    $identifiers[] = "192.0.2.$i";                          // a common beginning
    $identifiers[] = "$i.example";                          // a common end
    $identifiers[] = str_repeat("\0", $i % 4096 + 1) . $i;  // NULs
    $identifiers[] = random_bytes(1 + $i % 64) . "\xff$i";  // no UTF-8
}
for ($i = 0; $i < 4_096; $i += 7) {                         // the longest, one byte apart
    $longest = str_repeat('x', 4_096);
    $longest[$i] = 'y';
    $identifiers[] = $longest;
}
$identifiers = array_values(array_filter($identifiers, fn ($identifier) => strlen($identifier) <= 4_096));
echo count(array_unique($identifiers)) === count($identifiers) ? "all different\n" : "not all different\n";

foreach (['shm:many', 'array:'] as $dsn) {
    $first = $second = $limited = 0;
    foreach ($identifiers as $identifier) {
        $first += (int) (new TokenBucket($dsn, $identifier, 1, 0.001))->consume();
    }
    foreach ($identifiers as $identifier) {
        $second += (int) (new TokenBucket($dsn, $identifier, 1, 0.001))->consume();
    }
    $limiter = new TokenBucket("$dsn?prefix=clients", 'login');
    foreach ($identifiers as $identifier) {
        $limited += (int) $limiter->check($identifier, 1);
    }
    echo $first === count($identifiers) ? 'none' : count($identifiers) - $first, " denied at first, $second let in again, ",
        "$limited limited at first\n";
}
// The name and the id of a client, cut elsewhere, make another key.
foreach ([['a', 'b:c'], ['a:b', 'c'], ['a%3Ab', 'c'], ['a%', '3Ab:c'], ['a', ':b:c'], ['a:', 'b:c']] as [$name, $id]) {
    echo (int) (new TokenBucket('array:', $name))->check($id, 1);
}
echo "\n";
?>
--EXPECT--
all different
none denied at first, 0 let in again, 0 limited at first
none denied at first, 0 let in again, 0 limited at first
000000
