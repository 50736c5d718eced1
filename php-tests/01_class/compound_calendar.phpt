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
        // Also if the other limit denies: the day ends what the year had.
        TestClock::freeze(gmmktime(12, 0, 0, 9, 3, 2026));
        $used_up = TokenBucket::per($dsn, "used up $place", 1, 1e6);
        $used_up->consume();
        (new CalendarWindow($dsn, "year $place", 5, 'year'))->consume(4);
        $day = new CalendarWindow($dsn, "year $place", 5, 'day');
        $denied = (new Compound(...($place === 'first' ? [$day, $used_up] : [$used_up, $day])))->attempt();
        TestClock::advance(43_200);
        echo $denied->isAccepted() ? 'accepted' : 'denied', ', at midnight ', $day->peek()->getRemainingTokens(), " are left\n";
    }
}
?>
--EXPECT--
shm: first [false,true,true,true]
denied, at midnight 5 are left
shm: last [false,true,true,true]
denied, at midnight 5 are left
array: first [false,true,true,true]
denied, at midnight 5 are left
array: last [false,true,true,true]
denied, at midnight 5 are left
