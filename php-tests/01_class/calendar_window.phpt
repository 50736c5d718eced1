--TEST--
CalendarWindow: hits come back at the calendar's boundary in the time zone, also on days of 23 and 25 hours, where a zone leaves out a day, and at the beginning of 1970
--INI--
token_bucket.test_clock=1
date.timezone=Asia/Tokyo
--FILE--
<?php
use TokenBucket\{ArrayStorage, CalendarWindow, Compound, FixedWindow, SharedMemoryStorage, TestClock};

$at = fn (string $time, string $zone = 'UTC'): int => (new DateTimeImmutable($time, new DateTimeZone($zone)))->getTimestamp();
$show = function (CalendarWindow $window) use ($at): string {
    $decision = $window->attempt();
    return ($decision->isAccepted() ? 'in' : 'out') . " {$decision->getRemainingTokens()} {$decision->getRetryAfter()} " . $decision->getResetAfter() / 3600;
};
foreach ([new SharedMemoryStorage('shm:'), new ArrayStorage] as $storage) {
    echo $storage::class, "\n";
    foreach ([
        ['hour', 'UTC', '2024-05-05 12:34:56', '2024-05-05 13:00'],
        ['hour', 'Asia/Kolkata', '2024-05-05 12:34:56', '2024-05-05 13:00'],
        ['day', 'Europe/Berlin', '2024-03-31 00:30', '2024-04-01 00:00'],
        ['day', 'Europe/Berlin', '2024-10-27 00:30', '2024-10-28 00:00'],
        ['day', 'America/Santiago', '2024-09-08 02:00', '2024-09-09 00:00'],
        ['week', 'UTC', '2024-02-29 12:00', '2024-03-04 00:00'],
        ['week', 'America/New_York', '2024-03-10 23:59:59', '2024-03-11 00:00'],
        ['month', 'Europe/Berlin', '2024-02-01 00:00', '2024-03-01 00:00'],
        ['month', 'UTC', '2024-12-31 23:59:59', '2025-01-01 00:00'],
        ['day', 'Pacific/Apia', '2011-12-29 12:00', '2011-12-31 00:00'],
        ['month', 'Europe/Berlin', '1970-01-01 01:16:40', '1970-02-01 00:00'],
        ['year', 'Pacific/Auckland', '2023-07-01 00:00', '2024-01-01 00:00'],
    ] as [$unit, $zone, $from, $until]) {
        TestClock::freeze($at($from, $zone));
        $window = new CalendarWindow($storage, "$unit $zone $from", 2, $unit, $zone);
        $window->reset();
        $steps = [$show($window), $show($window), $show($window)];
        TestClock::freeze($at($until, $zone) - 0.001);
        $steps[] = $show($window);
        // The same object in the next window, and one that is made then.
        TestClock::freeze($at($until, $zone));
        $steps[] = $show($window);
        $steps[] = $show(new CalendarWindow($storage, "$unit $zone $from", 2, $unit, $zone));
        $steps[] = $show($window);
        echo "$unit $zone: ", implode(', ', $steps), "\n";
    }
}

// A window that an object has not seen end.
TestClock::freeze($at('2024-01-15 12:00'));
$window = new CalendarWindow('array:', 'long ago', 1, 'month');
$window->consume();
TestClock::freeze($at('2024-06-30 00:00'));
echo $show($window), ', ', $show($window), "\n";
// The clock went back.
TestClock::freeze($at('2024-05-31 00:00'));
echo $show($window), "\n";

// Beside another limit; what a call cost.
TestClock::freeze($at('2024-06-30 23:00'));
$both = new Compound($month = new CalendarWindow('array:', 'both', 10, 'month', name: 'month'), new FixedWindow('array:', 'both', 5, 60, name: 'minute'));
$decision = $both->attempt(3);
print_r($decision->getHeaders());
// The policy is that of the unit, whenever the call is made.
$day = new CalendarWindow('array:', 'day', 10, 'day', 'Europe/Berlin', 'day');
foreach (['12:48:06', '12:48:08', '23:59:59'] as $time) {
    TestClock::freeze($at("2024-06-30 $time"));
    echo implode(' ', $day->attempt()->getHeaders()), "\n";
}
TestClock::freeze($at('2024-06-30 23:00'));
echo json_encode([$decision->settle([12, 3]), $both->attempt()->getDeniedBy(), $month->peek()->getRetryAfter()]), ' ';
TestClock::advance(3600);
echo json_encode([$both->attempt()->isAccepted(), $month->peek(0)->getRemainingTokens(), $month->attempt(8, leave: 2)->isAccepted(), $month->attempt(1, 9)->isAccepted()]), ' ';
$month->refund(1);
$month->block(60);
echo json_encode([$month->peek(0)->isAccepted(), $month->peek(0)->getRetryAfter()]), "\n";
// Other kinds of the same identifier are apart, and its own object shows what it was given.
var_dump((new FixedWindow('array:', 'both', 10, 60))->peek()->getRemainingTokens(), $month);
?>
--EXPECTF--
TokenBucket\SharedMemoryStorage
hour UTC: in 1 0 0.41777777777778, in 0 0 0.41777777777778, out 0 1504 0.41777777777778, out 0 0.000999936 2.7776E-7, in 1 0 1, in 0 0 1, out 0 3600 1
hour Asia/Kolkata: in 1 0 0.41777777777778, in 0 0 0.41777777777778, out 0 1504 0.41777777777778, out 0 0.000999936 2.7776E-7, in 1 0 1, in 0 0 1, out 0 3600 1
day Europe/Berlin: in 1 0 22.5, in 0 0 22.5, out 0 81000 22.5, out 0 0.000999936 2.7776E-7, in 1 0 24, in 0 0 24, out 0 86400 24
day Europe/Berlin: in 1 0 24.5, in 0 0 24.5, out 0 88200 24.5, out 0 0.000999936 2.7776E-7, in 1 0 24, in 0 0 24, out 0 86400 24
day America/Santiago: in 1 0 22, in 0 0 22, out 0 79200 22, out 0 0.000999936 2.7776E-7, in 1 0 24, in 0 0 24, out 0 86400 24
week UTC: in 1 0 84, in 0 0 84, out 0 302400 84, out 0 0.000999936 2.7776E-7, in 1 0 168, in 0 0 168, out 0 604800 168
week America/New_York: in 1 0 0.00027777777777778, in 0 0 0.00027777777777778, out 0 1 0.00027777777777778, out 0 0.000999936 2.7776E-7, in 1 0 168, in 0 0 168, out 0 604800 168
month Europe/Berlin: in 1 0 696, in 0 0 696, out 0 2505600 696, out 0 0.000999936 2.7776E-7, in 1 0 743, in 0 0 743, out 0 2674800 743
month UTC: in 1 0 0.00027777777777778, in 0 0 0.00027777777777778, out 0 1 0.00027777777777778, out 0 0.000999936 2.7776E-7, in 1 0 744, in 0 0 744, out 0 2678400 744
day Pacific/Apia: in 1 0 12, in 0 0 12, out 0 43200 12, out 0 0.000999936 2.7776E-7, in 1 0 24, in 0 0 24, out 0 86400 24
month Europe/Berlin: in 1 0 742.72222222222, in 0 0 742.72222222222, out 0 2673800 742.72222222222, out 0 0.001 2.7777777777778E-7, in 1 0 672, in 0 0 672, out 0 2419200 672
year Pacific/Auckland: in 1 0 4415, in 0 0 4415, out 0 15894000 4415, out 0 0.000999936 2.7776E-7, in 1 0 8784, in 0 0 8784, out 0 31622400 8784
TokenBucket\ArrayStorage
hour UTC: in 1 0 0.41777777777778, in 0 0 0.41777777777778, out 0 1504 0.41777777777778, out 0 0.000999936 2.7776E-7, in 1 0 1, in 0 0 1, out 0 3600 1
hour Asia/Kolkata: in 1 0 0.41777777777778, in 0 0 0.41777777777778, out 0 1504 0.41777777777778, out 0 0.000999936 2.7776E-7, in 1 0 1, in 0 0 1, out 0 3600 1
day Europe/Berlin: in 1 0 22.5, in 0 0 22.5, out 0 81000 22.5, out 0 0.000999936 2.7776E-7, in 1 0 24, in 0 0 24, out 0 86400 24
day Europe/Berlin: in 1 0 24.5, in 0 0 24.5, out 0 88200 24.5, out 0 0.000999936 2.7776E-7, in 1 0 24, in 0 0 24, out 0 86400 24
day America/Santiago: in 1 0 22, in 0 0 22, out 0 79200 22, out 0 0.000999936 2.7776E-7, in 1 0 24, in 0 0 24, out 0 86400 24
week UTC: in 1 0 84, in 0 0 84, out 0 302400 84, out 0 0.000999936 2.7776E-7, in 1 0 168, in 0 0 168, out 0 604800 168
week America/New_York: in 1 0 0.00027777777777778, in 0 0 0.00027777777777778, out 0 1 0.00027777777777778, out 0 0.000999936 2.7776E-7, in 1 0 168, in 0 0 168, out 0 604800 168
month Europe/Berlin: in 1 0 696, in 0 0 696, out 0 2505600 696, out 0 0.000999936 2.7776E-7, in 1 0 743, in 0 0 743, out 0 2674800 743
month UTC: in 1 0 0.00027777777777778, in 0 0 0.00027777777777778, out 0 1 0.00027777777777778, out 0 0.000999936 2.7776E-7, in 1 0 744, in 0 0 744, out 0 2678400 744
day Pacific/Apia: in 1 0 12, in 0 0 12, out 0 43200 12, out 0 0.000999936 2.7776E-7, in 1 0 24, in 0 0 24, out 0 86400 24
month Europe/Berlin: in 1 0 742.72222222222, in 0 0 742.72222222222, out 0 2673800 742.72222222222, out 0 0.001 2.7777777777778E-7, in 1 0 672, in 0 0 672, out 0 2419200 672
year Pacific/Auckland: in 1 0 4415, in 0 0 4415, out 0 15894000 4415, out 0 0.000999936 2.7776E-7, in 1 0 8784, in 0 0 8784, out 0 31622400 8784
in 0 0 24, out 0 86400 24
out 0 86400 24
Array
(
    [RateLimit-Policy] => "month";q=10;w=2592000, "minute";q=5;w=60
    [RateLimit] => "month";r=7;t=3600, "minute";r=2;t=60
)
"day";q=10;w=86400 "day";r=9;t=33114
"day";q=10;w=86400 "day";r=8;t=33112
"day";q=10;w=86400 "day";r=9;t=79201
[true,["month"],3600] [true,9,false,false] [false,60]
int(9)
object(TokenBucket\CalendarWindow)#%d (5) {
  ["identifier"]=>
  string(4) "both"
  ["limit"]=>
  int(10)
  ["unit"]=>
  string(5) "month"
  ["timezone"]=>
  string(3) "UTC"
  ["name"]=>
  string(5) "month"
}
