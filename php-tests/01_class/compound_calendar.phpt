--TEST--
Compound: a calendar window whose unit was shortened holds by the shorter one from the next boundary on, on stores that are asked in order
--INI--
token_bucket.test_clock=1
token_bucket.warn_of_mistakes=0
--FILE--
<?php
use TokenBucket\{CalendarWindow, Compound, TestClock};

foreach (['shm:', 'array:'] as $dsn) {
    foreach (['first', 'last'] as $place) {
        TestClock::freeze(gmmktime(12, 0, 0, 9, 3, 2026));
        (new CalendarWindow($dsn, $place, 10, 'month'))->consume(10);
        $limits = [new CalendarWindow($dsn, $place, 10, 'day'), TokenBucket::per($dsn, "other $place", 1_000, 1)];
        $both = new Compound(...($place === 'first' ? $limits : array_reverse($limits)));
        $answers = [];
        for ($days = 0; $days < 4; $days++) {
            $answers[] = $both->consume();
            TestClock::advance(86_400);
        }
        echo "$dsn $place ", json_encode($answers), "\n";
    }
}
?>
--EXPECT--
shm: first [false,true,true,true]
shm: last [false,true,true,true]
array: first [false,true,true,true]
array: last [false,true,true,true]
