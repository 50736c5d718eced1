--TEST--
status(): counts, limits of the file and who they limit, tables, directives without passwords; prometheus(), reset_statistics()
--FILE--
<?php
use TokenBucket\{ConcurrencyLimit, FixedWindow, TestClock};
use function TokenBucket\{limiter, prometheus, reset_statistics, statistics, status};
require dirname(__DIR__) . '/utils.inc';

$folder = (getenv('TB_APART') ? ini_get('token_bucket.shm_path') : (ini_get('token_bucket.shm_path') ?: '/dev/shm') . '/status');
$file = "$folder.limits.ini";
if (!getenv('TB_APART')) {
    file_put_contents($file, "[login]\nall = network user\n[network]\nlimit = 3\ninterval = 60\n[user]\nalgorithm = sliding_window\nlimit = 1\ninterval = 9.5\nenforce = off\n"
        . "[far]\nlimit = 1\ninterval = 1\nstorage = \"redis://:s3cret@127.0.0.1:1\"\non_error = closed\n");
    putenv('TEST_PHP_EXTRA_ARGS=' . getenv('TEST_PHP_EXTRA_ARGS') . " -d token_bucket.limits=$file -d token_bucket.prefix=shop: -d 'token_bucket.storage=\"shm:main\"'");
    register_shutdown_function(unlink(...), $file);
}
run_apart(__FILE__);
TestClock::freeze(1e8); // after the host's clock, by which slots are in use
$show = fn (mixed $value): string => preg_replace('~"/[^"]*/([^/"]+)"~', '"$1"', json_encode($value, JSON_UNESCAPED_SLASHES)) . "\n";

$before = status();
echo implode(' ', array_keys($before)), "\n";
echo $show([$before['version'] === phpversion('token_bucket'), $before['limits'], $before['tables'], $before['servers']]);

// Clients that are limited now, and until when. One was denied, and has tokens again.
foreach (['a' => 5, 'b' => 4, '12' => 6] as $client => $calls) {
    times($calls, limiter('network', (string) $client)->consume(...));
    TestClock::advance(10);
}
times(2, limiter('user', 'eve')->consume(...));
limiter('network', 'blocked')->block(3600);
limiter('network', 'blocked')->consume();
limiter('login', ['c', 'd'])->consume();
foreach (status()['named_limits'] as $name => $limit) {
    echo "$name: ", $show($limit);
}
TestClock::advance(100);
echo $show(status()['named_limits']['network']['limited']);

// What is counted is what statistics() has.
var_dump(status()['limits'] === statistics());

// Tables, with their permits.
$permit = (new ConcurrencyLimit(null, 'report', 2))->acquire();
new TokenBucket('shm:other', 'x', 1, 1);
(new TokenBucket('shm:other', 'x', 1, 1))->consume();
foreach (status()['tables'] as $table) {
    echo $show($table);
}
$permit->release();
echo status()['tables'][1]['used'], " permits held\n";

echo $show(status()['directives']);
ini_set('token_bucket.storage', 'redis://limiter:s3cret@127.0.0.1/2?prefix=x');
echo status()['directives']['token_bucket.storage'], "\n";
ini_restore('token_bucket.storage');

// All prefixes; a name that is not given is not shown.
ini_set('token_bucket.prefix', 'blog:');
(new FixedWindow(null, 'a client', 1, 1))->consume();
(new FixedWindow(null, 'x', 1, 1, "odd\"\\\n"))->consume();
ini_restore('token_bucket.prefix');
echo preg_replace('/^(# .*|token_bucket_(table|info).*)\n/m', '', prometheus());

// Counters begin again, those of other prefixes go on.
reset_statistics();
echo $show([statistics(), array_keys(statistics('blog:')), status()['named_limits']['network']['limited']]);
reset_statistics('*');
echo $show(statistics('*'));
var_dump(limiter('network', 'blocked')->consume());
echo $show(statistics()['network']['most_denied']);
?>
--EXPECT--
version shared_memory_errors likely_mistakes limits last_hour denials blocked limits_file named_limits tables servers directives
[true,[],[],[]]
far: {"algorithm":"token_bucket","limit":1,"interval":1,"leave":0,"except":null,"clients":null,"storage":"redis://***@127.0.0.1:1","enforce":true,"on_error":"closed","limited":null}
login: {"all":["network","user"]}
network: {"algorithm":"token_bucket","limit":3,"interval":60,"leave":0,"except":null,"clients":null,"storage":null,"enforce":true,"on_error":"fallback","limited":{"12":10,"blocked":3600}}
user: {"algorithm":"sliding_window","limit":1,"interval":9.5,"leave":0,"except":null,"clients":null,"storage":null,"enforce":false,"on_error":"fallback","limited":{"eve":9.5}}
{"blocked":3500}
bool(true)
{"name":"main","holds":"buckets","path":"main.v13","bytes":8388608,"slots":524032,"used":7,"evictions":0,"denied_newcomers":0}
{"name":"main","holds":"permits","path":"main.permits.v13","bytes":1048576,"slots":65280,"used":1,"evictions":0,"denied_newcomers":0}
{"name":"other","holds":"buckets","path":"other.v13","bytes":8388608,"slots":524032,"used":1,"evictions":0,"denied_newcomers":0}
0 permits held
{"token_bucket.storage":"shm:main","token_bucket.prefix":"shop:","token_bucket.on_error":"fallback","token_bucket.enforce":"1","token_bucket.lease":"0","token_bucket.timeout_ms":"50","token_bucket.connect_timeout_ms":"100","token_bucket.deny_cache":"1","token_bucket.track_identifiers":"1","token_bucket.warn_of_mistakes":"1","token_bucket.shm_size":"8M","token_bucket.shm_path":"status","token_bucket.limits":"status.limits.ini","token_bucket.test_clock":"1"}
redis://***@127.0.0.1/2?prefix=x
token_bucket_shared_memory_errors 0
token_bucket_checks_total{prefix="blog:",limit="*"} 1
token_bucket_checks_total{prefix="blog:",limit="odd\"\\\n"} 1
token_bucket_checks_total{prefix="shop:",limit="*"} 2
token_bucket_checks_total{prefix="shop:",limit="network"} 17
token_bucket_checks_total{prefix="shop:",limit="user"} 3
token_bucket_denied_total{prefix="blog:",limit="*"} 0
token_bucket_denied_total{prefix="blog:",limit="odd\"\\\n"} 0
token_bucket_denied_total{prefix="shop:",limit="*"} 0
token_bucket_denied_total{prefix="shop:",limit="network"} 7
token_bucket_denied_total{prefix="shop:",limit="user"} 0
token_bucket_would_deny_total{prefix="blog:",limit="*"} 0
token_bucket_would_deny_total{prefix="blog:",limit="odd\"\\\n"} 0
token_bucket_would_deny_total{prefix="shop:",limit="*"} 0
token_bucket_would_deny_total{prefix="shop:",limit="network"} 0
token_bucket_would_deny_total{prefix="shop:",limit="user"} 1
token_bucket_store_errors_total{prefix="blog:",limit="*"} 0
token_bucket_store_errors_total{prefix="blog:",limit="odd\"\\\n"} 0
token_bucket_store_errors_total{prefix="shop:",limit="*"} 0
token_bucket_store_errors_total{prefix="shop:",limit="network"} 0
token_bucket_store_errors_total{prefix="shop:",limit="user"} 0
token_bucket_busy_total{prefix="blog:",limit="*"} 0
token_bucket_busy_total{prefix="blog:",limit="odd\"\\\n"} 0
token_bucket_busy_total{prefix="shop:",limit="*"} 0
token_bucket_busy_total{prefix="shop:",limit="network"} 0
token_bucket_busy_total{prefix="shop:",limit="user"} 0
token_bucket_degraded_total{prefix="blog:",limit="*"} 0
token_bucket_degraded_total{prefix="blog:",limit="odd\"\\\n"} 0
token_bucket_degraded_total{prefix="shop:",limit="*"} 0
token_bucket_degraded_total{prefix="shop:",limit="network"} 0
token_bucket_degraded_total{prefix="shop:",limit="user"} 0
token_bucket_exempt_total{prefix="blog:",limit="*"} 0
token_bucket_exempt_total{prefix="blog:",limit="odd\"\\\n"} 0
token_bucket_exempt_total{prefix="shop:",limit="*"} 0
token_bucket_exempt_total{prefix="shop:",limit="network"} 0
token_bucket_exempt_total{prefix="shop:",limit="user"} 0
token_bucket_evictions_total{prefix="blog:",limit="*"} 0
token_bucket_evictions_total{prefix="blog:",limit="odd\"\\\n"} 0
token_bucket_evictions_total{prefix="shop:",limit="*"} 0
token_bucket_evictions_total{prefix="shop:",limit="network"} 0
token_bucket_evictions_total{prefix="shop:",limit="user"} 0
token_bucket_limits_file_valid 1
[[],["a client","odd\"\\\n"],[]]
[]
bool(false)
{"network:blocked":1}
