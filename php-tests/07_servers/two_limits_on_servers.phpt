--TEST--
Servers: two limits that alternate on one identifier give one warning, by several processes of a host
--FILE--
<?php
require dirname(__DIR__) . '/servers.inc';

$base = (ini_get('token_bucket.shm_path') ?: '/dev/shm') . '/two_limits_servers';
is_dir($base) || mkdir($base);
foreach (['TB_REDIS', 'TB_MEMCACHED', 'TB_MARIADB'] as $name) {
    $dsn = with(server_dsn($name), 'on_error=throw&timeout_ms=10000&connect_timeout_ms=10000');
    // Processes of this host that no other test shares anything with.
    is_dir("$base/$name") || mkdir("$base/$name");
    $php = escapeshellarg(PHP_BINARY) . ' -n -d display_errors=1 -d log_errors=0 -d html_errors=0 ' . getenv('TEST_PHP_EXTRA_ARGS') . " -d token_bucket.shm_path=$base/$name";
    $id = 'login:' . bin2hex(random_bytes(8));
    echo "$name: ";
    foreach ([5, 100, 5, 100] as $limit) {
        $code = 'TokenBucket::per(' . var_export($dsn, true) . ", '$id', $limit, 300)->consume();";
        echo preg_replace('/ in Command line code on line \d+/', '', (string) shell_exec("$php -r " . escapeshellarg($code)));
    }
}
?>
--EXPECT--
TB_REDIS: 
Warning: TokenBucket::consume(): Two limits on one identifier of "login" overwrite each other: 5 in 300 s and 100 in 300 s; an identifier must have one limit
TB_MEMCACHED: 
Warning: TokenBucket::consume(): Two limits on one identifier of "login" overwrite each other: 5 in 300 s and 100 in 300 s; an identifier must have one limit
TB_MARIADB: 
Warning: TokenBucket::consume(): Two limits on one identifier of "login" overwrite each other: 5 in 300 s and 100 in 300 s; an identifier must have one limit
