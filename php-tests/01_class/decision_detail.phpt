--TEST--
Decision: getProblem() tells a person a long time in two units, rounded up
--FILE--
<?php
use TokenBucket\FixedWindow;

// Of nine hours an hour is much.
foreach ([33_475, 10_790, 610_000, 176_000] as $seconds) {
    $limit = new FixedWindow('array:', "long:$seconds", 1, 60);
    $limit->block($seconds);
    echo "$seconds s: ", $limit->attempt()->getProblem()['detail'], "\n";
}
?>
--EXPECT--
33475 s: Try again in 9 hours 18 minutes.
10790 s: Try again in 3 hours.
610000 s: Try again in 7 days 2 hours.
176000 s: Try again in 2 days 1 hour.
