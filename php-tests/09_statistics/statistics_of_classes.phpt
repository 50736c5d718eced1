--TEST--
statistics(): counts the calls of each class: blocks, permits, compounds, limits that leave tokens, sliding windows; status() has a limit of the calendar
--INI--
token_bucket.warn_of_mistakes=0
--FILE--
<?php
use TokenBucket\{Compound, ConcurrencyLimit, FixedWindow, SlidingWindow, TestClock};
use function TokenBucket\{denials, limiter, statistics, status};
require dirname(__DIR__) . '/utils.inc';

if (!getenv('TB_APART')) {
    file_put_contents($file = __DIR__ . '/statistics_of_classes.limits.ini', <<<'INI'
        [api]
        limit = 10
        interval = 100
        [batch]
        like = api
        leave = 6
        [month]
        algorithm = calendar
        limit = 3
        unit = month
        timezone = Europe/Berlin
        INI);
    putenv('TEST_PHP_EXTRA_ARGS=' . getenv('TEST_PHP_EXTRA_ARGS') . " -d token_bucket.limits=$file");
}
run_apart(__FILE__);

function tell(string ...$names): void
{
    foreach ($names as $name) {
        $row = statistics()[$name];
        echo $name, ' ', implode(' ', array_slice($row, 0, 4)), ' ', json_encode($row['most_denied']), "\n";
    }
}
TestClock::freeze((new DateTimeImmutable('2024-03-31 23:59:59', new DateTimeZone('Europe/Berlin')))->getTimestamp());

// Calls that a block denies count, a block does not; a dry run counts what it would deny.
$blocked = TokenBucket::per('shm:', 'blocked:x', 3, 30);
$blocked->consume();
$blocked->block(60);
times(4, fn () => $blocked->consume());
$dry = TokenBucket::per('shm:?enforce=0', 'dry:x', 3, 30);
$dry->block(60);
times(2, fn () => $dry->attempt()->isAccepted());
$dry->check();
tell('blocked', 'dry');

// Permits, by the limit's name.
$report = new ConcurrencyLimit('shm:', 'report:x', 2);
$held = [$report->acquire(), $report->acquire(), $report->acquire()];
$wide = new ConcurrencyLimit('shm:', 'report:x', 5, name: 'wide');
$watched = new ConcurrencyLimit('shm:?enforce=0', 'watched:x', 1);
array_push($held, $wide->acquire(), $watched->acquire(), $watched->acquire());
tell('report', 'wide', 'watched');

// A compound counts for each limit that is charged or that denies.
[$a, $b, $c] = [new FixedWindow('array:', 'count-a:x', 2, 60), new FixedWindow('array:', 'count-b:x', 5, 60), new FixedWindow('array:?enforce=0', 'count-c:x', 1, 60)];
times(4, fn () => (new Compound($a, $b, $c))->consume());
tell('count-a', 'count-b', 'count-c');

// Limits that leave tokens, and sliding windows.
[limiter('api', 'x')->consume(), times(3, fn () => limiter('batch', 'x')->consume(2))];
times(4, fn () => (new SlidingWindow('shm:', 'sliding:x', 3, 60))->consume());
tell('api', 'batch', 'sliding');

// Where a person looks for a client that is denied by a limit like another one, its name is that of the client.
$limited = fn (): array => array_keys(status()['named_limits']['batch']['limited']);
echo json_encode([$limited(), times(3, fn () => limiter('batch', 'carl')->consume(4)), $limited()]), ' ';
echo json_encode([count(denials('batch', 'carl')), count(denials(null, 'api:carl')), count(denials('batch', 'batch:carl'))]), "\n";

times(4, fn () => limiter('month', 'x')->consume());
$row = status()['named_limits']['month'];
unset($row['storage'], $row['enforce'], $row['on_error']);
echo json_encode($row), "\n";
?>
--CLEAN--
<?php
unlink(__DIR__ . '/statistics_of_classes.limits.ini');
?>
--EXPECT--
blocked 5 1 4 0 {"blocked:x":4}
dry 3 3 0 3 {"dry:x":3}
report 3 2 1 0 {"report:x":1}
wide 1 1 0 0 []
watched 2 2 0 1 {"watched:x":1}
count-a 4 2 2 0 {"count-a:x":2}
count-b 2 2 0 0 []
count-c 2 2 0 1 {"count-c:x":1}
api 1 1 0 0 []
batch 3 1 2 0 {"api:x":2}
sliding 4 3 1 0 {"sliding:x":1}
[[],"100",["carl"]] [1,1,0]
{"algorithm":"calendar","limit":3,"unit":"month","timezone":"Europe\/Berlin","leave":0,"except":null,"clients":null,"limited":{"x":1}}
