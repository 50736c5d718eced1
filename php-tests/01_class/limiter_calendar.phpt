--TEST--
limiter(): a limit of the calendar by its name, in a file, alone and in sets
--INI--
token_bucket.limits={PWD}/limiter_calendar.limits.ini
token_bucket.storage=array:
token_bucket.test_clock=1
--FILE--
<?php
use TokenBucket\TestClock;
use function TokenBucket\limiter;

$file = __DIR__ . '/limiter_calendar.limits.ini';
file_put_contents($file, <<<'INI'
    [month]
    algorithm = calendar
    limit = 3
    unit = month
    timezone = Europe/Berlin
    [low]
    like = month
    leave = 1
    [minute]
    limit = 9
    interval = 60
    [both]
    all = month minute
    [plan]
    first = month minute
    INI);
$at = fn (string $time): int => (new DateTimeImmutable($time, new DateTimeZone('Europe/Berlin')))->getTimestamp();
TestClock::freeze($at('2024-03-31 23:59:59'));
$month = limiter('month', 'x');
var_dump($month);
$left = fn (): string => $month->peek(0)->getRemainingTokens() . '/' . limiter('minute', 'x')->peek(0)->getRemainingTokens();
echo json_encode([limiter('low', 'x')->consume(2), limiter('low', 'x')->consume(), limiter('both', 'x')->consume(), limiter('both', 'x')->attempt()->getDeniedBy()]), ' ', $left(), "\n";
$plan = limiter('plan', 'x');
echo json_encode([$plan->attempt()->getChargedTo(), $plan->peek()->getLimit()]), ' ', $left(), "\n";
// The next month, in Berlin; in UTC it begins two hours later.
TestClock::advance(1);
echo json_encode([$plan->attempt()->getChargedTo(), limiter('plan', 'x')->attempt()->getChargedTo(), $month->consume(), $month->attempt()->getRetryAfter() / 86400]), ' ', $left(), "\n";
?>
--CLEAN--
<?php
@unlink(__DIR__ . '/limiter_calendar.limits.ini');
?>
--EXPECTF--
object(TokenBucket\CalendarWindow)#%d (5) {
  ["identifier"]=>
  string(7) "month:x"
  ["limit"]=>
  int(3)
  ["unit"]=>
  string(5) "month"
  ["timezone"]=>
  string(13) "Europe/Berlin"
  ["name"]=>
  string(5) "month"
}
[true,false,true,["month"]] 0/8
[["minute"],9] 0/7
[["month"],["month"],true,30] 0/7
