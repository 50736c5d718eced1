--TEST--
concurrency_limit(): the limits of a file of how many run at once, found by their names
--INI--
token_bucket.limits={PWD}/limiter_concurrency.limits.ini
token_bucket.storage=array:
token_bucket.test_clock=1
--FILE--
<?php
use TokenBucket\TestClock;
use function TokenBucket\{concurrency_limit, limiter, statistics, status};
require __DIR__ . '/../utils.inc';

file_put_contents(__DIR__ . '/limiter_concurrency.limits.ini', <<<'INI'
    [permits_report]
    algorithm = concurrency
    limit = 2
    lifetime = 120.5

    [permits_batch]
    like = permits_report
    leave = 1

    [permits_export]
    algorithm = concurrency
    limit = 1
    enforce = off

    [far]
    algorithm = concurrency
    limit = 1
    storage = memcached://127.0.0.1:1

    [calls_beside_permits]
    limit = 10
    interval = 60
    INI);

TestClock::freeze(1_000);
$limit = concurrency_limit('permits_report', 'anna');
var_dump($limit);
$held = [$limit->acquire(), concurrency_limit('permits_report', 'anna')->acquire()];
echo json_encode([count(array_filter($held)), $limit->acquire(), concurrency_limit('permits_report', 'bob')->acquire() !== null]), "\n";
// Under another name, the same permits, of which one is left.
$limit->reset();
$batch = concurrency_limit('permits_batch', 'anna');
$held = [$batch->acquire(), $batch->acquire(), $limit->acquire(), $batch->acquire(leave: 0), $limit->acquire()];
echo json_encode(array_map(is_object(...), $held)), "\n";
echo 'the same as in code: ', (new TokenBucket\ConcurrencyLimit(null, 'permits_report:anna', 9))->getActive(), "\n";
TestClock::advance(120.4);
echo $limit->getActive();
TestClock::advance(0.1);
echo ' ', $limit->getActive(), "\n";
// The lifetime where nothing is said, and a dry run.
$export = concurrency_limit('permits_export', 'x');
$both = [$export->acquire(), $export->acquire()];
TestClock::advance(59.9);
echo json_encode(count(array_filter($both))), ' ', $export->getActive();
TestClock::advance(0.1);
echo ' ', $export->getActive(), "\n";
echo json_encode(array_map(fn (array $counts) => [$counts['accepted'], $counts['denied'], $counts['would_deny']], array_intersect_key(statistics(), status()['named_limits']))), "\n";
foreach (status()['named_limits'] as $name => $row) {
    echo $name, ': ', json_encode($row), "\n";
}
thrown(
    fn () => limiter('permits_report', 'anna'),
    fn () => concurrency_limit('calls_beside_permits', 'anna'),
    fn () => concurrency_limit('far', 'anna'),
    fn () => concurrency_limit('nothing', 'anna'),
    fn () => concurrency_limit('permits_report', ''),
    fn () => concurrency_limit('permits_report', ['anna']),
    fn () => concurrency_limit('permits_report'),
);
?>
--CLEAN--
<?php
@unlink(__DIR__ . '/limiter_concurrency.limits.ini');
?>
--EXPECTF--
object(TokenBucket\ConcurrencyLimit)#%d (3) {
  ["identifier"]=>
  string(19) "permits_report:anna"
  ["limit"]=>
  int(2)
  ["lifetime"]=>
  float(120.5)
}
[2,null,true]
[true,false,true,false,false]
the same as in code: 2
2 0
2 1 0
{"permits_batch":[1,2,0],"permits_export":[2,0,1],"permits_report":[4,2,0]}
calls_beside_permits: {"algorithm":"token_bucket","limit":10,"interval":60,"leave":0,"except":null,"clients":null,"storage":null,"enforce":true,"on_error":"fallback","limited":[]}
far: {"algorithm":"concurrency","limit":1,"lifetime":60,"leave":0,"except":null,"clients":null,"storage":"memcached:\/\/127.0.0.1:1","enforce":true,"on_error":"fallback"}
permits_batch: {"algorithm":"concurrency","limit":2,"lifetime":120.5,"leave":1,"except":null,"clients":null,"storage":null,"enforce":true,"on_error":"fallback"}
permits_export: {"algorithm":"concurrency","limit":1,"lifetime":60,"leave":0,"except":null,"clients":null,"storage":null,"enforce":false,"on_error":"fallback"}
permits_report: {"algorithm":"concurrency","limit":2,"lifetime":120.5,"leave":0,"except":null,"clients":null,"storage":null,"enforce":true,"on_error":"fallback"}
TokenBucket\ConfigurationException: [permits_report] in token_bucket.limits limits how many run at once: use TokenBucket\concurrency_limit()
TokenBucket\ConfigurationException: [calls_beside_permits] in token_bucket.limits limits calls: use TokenBucket\limiter()
TokenBucket\ConfigurationException: TokenBucket\ConcurrencyLimit needs a storage on shared memory (shm:), on array: or on Redis (redis: and its like); memcached, MariaDB and MySQL, and storages written in PHP hold no permits
TokenBucket\ConfigurationException: token_bucket.limits has no limit "nothing": must be one of calls_beside_permits, far, permits_batch, permits_export, permits_report
ValueError: TokenBucket\concurrency_limit(): Argument #2 ($client) must be between 1 and 4096 bytes long
TypeError: TokenBucket\concurrency_limit(): Argument #2 ($client) must be of type string, array given
ArgumentCountError: TokenBucket\concurrency_limit() expects exactly 2 arguments, 1 given
