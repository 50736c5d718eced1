--TEST--
php-fpm: a bad value of a pool gives one warning that names the directive; a bad storage leaves no default in any request
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require __DIR__ . '/fpm.inc';

$fpm = new Fpm(['www' => [
    'pm.max_children' => '1', // each worker says it, in its first request
    'php_admin_flag[display_errors]' => 'off',
    'php_admin_flag[log_errors]' => 'on',
    'php_admin_value[token_bucket.storage]' => 'reddis://localhost',
    'php_admin_value[token_bucket.prefix]' => str_repeat('0123456789', 7),
    'php_admin_value[token_bucket.shm_size]' => 'tiny',
    'php_admin_value[token_bucket.test_clock]' => 'maybe',
]]);
$fpm->script('values.php', <<<'CODE'
    <?php
    foreach (['storage', 'prefix', 'shm_size', 'test_clock'] as $name) {
        echo ini_get("token_bucket.$name"), "\n";
    }
    try {
        new TokenBucket(null, 'pools_error', 5, 1e-6);
    } catch (TokenBucket\ConfigurationException $e) {
        echo strtok($e->getMessage(), '('), "\n";
    }
    echo 'left: ', (new TokenBucket('shm:', 'pools_error', 5, 1e-6))->attempt()->getRemainingTokens(), "\n";
    CODE);

$fpm->script('set.php', <<<'CODE'
    <?php
    ini_set('token_bucket.storage', 'array:');
    var_dump((new TokenBucket(null, 'x', 1, 1))->consume());
    CODE);

foreach (['first request', 'second request', 'after a script that sets one of its own'] as $which) {
    if ($which !== 'first request' && $which !== 'second request') {
        echo $fpm->request('www', 'set.php')->body;
    }
    $answer = $fpm->request('www', 'values.php');
    preg_match_all('/token_bucket\.\w+ must be/', $answer->errors, $warnings);
    sort($warnings[0]);
    echo $which, ":\n", implode("\n", $warnings[0]), "\n", $answer->body;
}
echo 'table of ', filesize(glob("$fpm->tables/*/default.v13")[0]) >> 20, "M\n";
?>
--EXPECT--
first request:
token_bucket.prefix must be
token_bucket.shm_size must be
token_bucket.storage must be
token_bucket.test_clock must be
shm:
tb:
8M
0
token_bucket.storage must be a storage DSN 
left: 4
second request:

shm:
tb:
8M
0
token_bucket.storage must be a storage DSN 
left: 3
bool(true)
after a script that sets one of its own:

shm:
tb:
8M
0
token_bucket.storage must be a storage DSN 
left: 2
table of 8M
