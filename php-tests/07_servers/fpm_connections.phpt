--TEST--
Servers: php-fpm's workers have one connection each, over many requests, and leave none behind
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require dirname(__DIR__) . '/06_fpm/fpm.inc';
require dirname(__DIR__) . '/servers.inc';

$redis = new Server('redis');
$fpm = new Fpm(['www' => [
    'pm.max_children' => '3',
    'php_admin_value[token_bucket.storage]' => $redis->dsn(),
    'php_admin_value[token_bucket.timeout_ms]' => '5000',
    'php_admin_value[token_bucket.connect_timeout_ms]' => '5000',
    'php_admin_value[token_bucket.on_error]' => 'throw',
]]);
$fpm->script('page.php', '<?php
    $bucket = new TokenBucket(null, "x", 100000, 0.001);
    (new TokenBucket(null, "y", 10, 1))->consume();
    echo getmypid(), " ", (int) $bucket->consume();');
$pids = [];
for ($i = 0; $i < 300 || count($pids) < 3; $i++) {
    [$pid, $accepted] = explode(' ', $fpm->request('www', 'page.php')->body);
    $pids[$pid] = ($pids[$pid] ?? 0) + (int) $accepted;
}
$connections = fn (): int => substr_count($redis->ask('CLIENT LIST'), 'name=token_bucket');
var_dump(array_sum($pids) === $i, $connections());
$fpm->stop();
var_dump($connections());
?>
--EXPECT--
bool(true)
int(3)
int(0)
