--TEST--
ini: each bad value gives one warning that names the value in force; unusual valid values give none
--FILE--
<?php
require dirname(__DIR__) . '/base.inc';

/* Each value is given to a PHP of its own, whose whole output is looked at. */
$code = <<<'CODE'
    echo ini_get("token_bucket." . $argv[1]), ' ';
    try {
        TokenBucket\TestClock::freeze(1);
        echo "frozen";
    } catch (TokenBucket\ConfigurationException) {
        echo "not frozen";
    }
    try {
        echo (int) (new TokenBucket(null, "x", 1, 1))->peek()->isAccepted();
    } catch (TokenBucket\ConfigurationException $e) {
        echo str_starts_with($e->getMessage(), "token_bucket.storage must be") ? ", no default storage" : $e;
    }
    CODE;

function run(string $name, string $value): void
{
    global $code;
    // A table of its own: its size is one of the directives. Where the folder is, that of the host: no table.
    $folder = temporary_folder();
    $quoted = '"' . $value . '"';
    $output = shell_exec(escapeshellarg(PHP_BINARY) . ' -n ' . getenv('TEST_PHP_EXTRA_ARGS')
        . ($name === 'shm_path' ? ' -d token_bucket.storage=array:' : " -d token_bucket.shm_path=$folder") . " -d display_errors=1 -d log_errors=0 -d html_errors=0"
        . ' -d ' . escapeshellarg("token_bucket.$name=$quoted") . ' -r ' . escapeshellarg($code) . " $name 2>&1");
    echo "$name=$value\n", preg_replace(['/^\n/m', '/ in Unknown on line 0/'], '', str_replace($folder, '<folder>', $output)), "\n";
}

foreach ([
    'storage' => ['', 'shm', 'shm:a b', 'shm:?x', 'array:y', 'array:'],
    'prefix' => [str_repeat('x', 65), str_repeat('x', 64), ''],
    'shm_size' => ['', '-1', '63K', '8MB', '65G', '99999999999999999999', '64k', '1m'],
    'shm_path' => ['relative'],
    'test_clock' => ['2', 'maybe', 'On', '1', 'off', ''],
] as $name => $values) {
    foreach ($values as $value) {
        run($name, $value);
    }
}
?>
--EXPECTF--
storage=
Warning: PHP Startup: token_bucket.storage must be a storage DSN (The storage DSN must begin with a scheme, known are shm:, %s); until it is, there is no default storage
shm: not frozen, no default storage
storage=shm
Warning: PHP Startup: token_bucket.storage must be a storage DSN (The storage DSN must begin with a scheme, known are shm:, %s); until it is, there is no default storage
shm: not frozen, no default storage
storage=shm:a b
Warning: PHP Startup: token_bucket.storage must be a storage DSN (Shared memory name "a b" must be 1 to 64 letters, digits, "_" or "-"); until it is, there is no default storage
shm: not frozen, no default storage
storage=shm:?x
Warning: PHP Startup: token_bucket.storage must be a storage DSN (an ini file has probably cut it at ";", "(", "!", "?" or the like: write it in double quotes. As it is: Unknown parameter "x" in the storage DSN, known are: prefix, on_error, enforce, lease, timeout_ms, connect_timeout_ms); until it is, there is no default storage
shm: not frozen, no default storage
storage=array:y
Warning: PHP Startup: token_bucket.storage must be a storage DSN (DSN "array:" takes nothing after the colon); until it is, there is no default storage
shm: not frozen, no default storage
storage=array:
array: not frozen1
prefix=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
Warning: PHP Startup: token_bucket.prefix must be at most 64 bytes, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx..." given; "tb:" stays in force
tb: not frozen1
prefix=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx not frozen1
prefix=
 not frozen1
shm_size=
Warning: PHP Startup: token_bucket.shm_size must be a size between 64K and 64G, such as 8M, "" given; "8M" stays in force
8M not frozen1
shm_size=-1
Warning: PHP Startup: token_bucket.shm_size must be a size between 64K and 64G, such as 8M, "-1" given; "8M" stays in force
8M not frozen1
shm_size=63K
Warning: PHP Startup: token_bucket.shm_size must be a size between 64K and 64G, such as 8M, "63K" given; "8M" stays in force
8M not frozen1
shm_size=8MB
Warning: PHP Startup: token_bucket.shm_size must be a size between 64K and 64G, such as 8M, "8MB" given; "8M" stays in force
8M not frozen1
shm_size=65G
Warning: PHP Startup: token_bucket.shm_size must be a size between 64K and 64G, such as 8M, "65G" given; "8M" stays in force
8M not frozen1
shm_size=99999999999999999999
Warning: PHP Startup: token_bucket.shm_size must be a size between 64K and 64G, such as 8M, "99999999999999999999" given; "8M" stays in force
8M not frozen1
shm_size=64k
64k not frozen1
shm_size=1m
1m not frozen1
shm_path=relative
Warning: PHP Startup: token_bucket.shm_path must be the absolute path of a directory, or empty, "relative" given; "" stays in force
 not frozen1
test_clock=2
Warning: PHP Startup: token_bucket.test_clock must be 0, 1, off or on, "2" given; "0" stays in force
0 not frozen1
test_clock=maybe
Warning: PHP Startup: token_bucket.test_clock must be 0, 1, off or on, "maybe" given; "0" stays in force
0 not frozen1
test_clock=On
On frozen1
test_clock=1
1 frozen1
test_clock=off
off not frozen1
test_clock=
 not frozen1
