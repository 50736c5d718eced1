--TEST--
TokenBucket: the constants, and compare_microtimes()
--FILE--
<?php
var_dump(TokenBucket::MILLISECOND, TokenBucket::WEEK, TokenBucket::MICROTIME_DELTA);
// Five a minute, in the classic way of saying it.
var_dump((new TokenBucket('array:', 'x', 5, 5 / TokenBucket::MINUTE))->reserve(5)->getResetAfter());

foreach ([[1, 2], [2, 1], [1, 1], [1_000_000, 1_000_050], [1_000_000, 1_000_200], [0, 0], [0.00005, 0], [1, 0], [-1, 0], [0, 5]] as [$a, $b]) {
    echo TokenBucket::compare_microtimes($a, $b), ' ';
}
?>
--EXPECT--
float(0.001)
int(604800)
float(0.0001)
float(60)
-1 1 0 0 -1 0 0 1 -1 -1 
