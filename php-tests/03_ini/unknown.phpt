--TEST--
ini: a directive of token_bucket that does not exist gives one warning at startup, which names the nearest one; a DSN in a wrong directive is not shown
--FILE--
<?php
/* Each is given to a PHP of its own, whose whole output is looked at. */
foreach ([
    '-d token_bucket.storge=redis://10.0.0.5',
    '-d token_bucket.timeout=5 -d token_bucket.timeout=6',
    '-d Token_Bucket.Lease=5',
    '-d token_bucket.redis_password=s3cret',
    "-d 'token_bucket.on_error=\"redis+sentinel://10.0.0.5/main?sentinel_password=s3cret\"'",
    '-d token_bucket.storage=shm: -d token_buckets=1 -d memory_limit=64M',
] as $options) {
    $output = shell_exec(escapeshellarg(PHP_BINARY) . ' -n -d display_errors=1 -d log_errors=0 -d html_errors=0 ' . getenv('TEST_PHP_EXTRA_ARGS') . " $options -r 'echo \"runs\";' 2>&1");
    // No pattern: valgrind takes what a compiled one reads ahead for uninitialised.
    echo implode("\n", array_filter(explode("\n", $output), strlen(...))), "\n";
}
?>
--EXPECT--
Warning: PHP Startup: token_bucket.storge is not a directive and has no effect; did you mean token_bucket.storage? in Unknown on line 0
runs
Warning: PHP Startup: token_bucket.timeout is not a directive and has no effect; did you mean token_bucket.timeout_ms? in Unknown on line 0
runs
Warning: PHP Startup: Token_Bucket.Lease is not a directive and has no effect; did you mean token_bucket.lease? in Unknown on line 0
runs
Warning: PHP Startup: token_bucket.redis_password is not a directive and has no effect in Unknown on line 0
runs
Warning: PHP Startup: token_bucket.on_error must be "fallback", "open", "closed" or "throw", another value given; "fallback" stays in force in Unknown on line 0
runs
runs
