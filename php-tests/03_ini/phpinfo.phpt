--TEST--
ini: phpinfo() shows the table, how full it is, and the directives
--INI--
token_bucket.storage=shm:info
--FILE--
<?php
for ($i = 0; $i < 3; $i++) {
    (new TokenBucket(null, "info-$i", 1, 0.001))->consume();
}
$limit = new TokenBucket\ConcurrencyLimit(null, 'info', 5);
$permits = [$limit->acquire(), $limit->acquire()];
ob_start();
(new ReflectionExtension('token_bucket'))->info();
echo ob_get_clean();
?>
--EXPECTF--
token_bucket

token_bucket => enabled
Version => %d.%d.%d
Shared memory => %s/token_bucket-%d/info.v13
Size in bytes => 8388608
Buckets it can hold => 524032
Buckets in use => 3
Evicted while in use => 0
Newcomers denied because the table was full => 0
Permits it can hold => 65280
Permits held => 2

Directive => Local Value => Master Value
token_bucket.storage => shm:info => shm:info
token_bucket.prefix => tb: => tb:
token_bucket.on_error => fallback => fallback
token_bucket.enforce => 1 => 1
token_bucket.lease => 0 => 0
token_bucket.timeout_ms => 50 => 50
token_bucket.connect_timeout_ms => 100 => 100
token_bucket.deny_cache => 1 => 1
token_bucket.track_identifiers => 1 => 1
token_bucket.warn_of_mistakes => 1 => 1
token_bucket.shm_size => 8M => 8M
token_bucket.shm_path => %s => %s
token_bucket.limits => no value => no value
token_bucket.test_clock => 0 => 0
