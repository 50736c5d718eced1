--TEST--
php-fpm: the master opens no table and connects to no server; its workers do
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require __DIR__ . '/fpm.inc';

$fpm = new Fpm(['www' => ['pm.max_children' => '1']]);
$fpm->script('bucket.php', '<?php
    (new TokenBucket(null, "x", 9, 1))->consume();
    @(new TokenBucket("redis://127.0.0.1:1", "x", 9, 1))->consume();
    echo json_encode(TokenBucket\statistics() !== []);');
echo $fpm->request('www', 'bucket.php')->body, "\n";

/** Which tables a process has mapped. */
$tables = function (int $pid) use ($fpm): string {
    preg_match_all("~ $fpm->tables/\S*/(\S+)$~m", file_get_contents("/proc/$pid/maps"), $found);
    sort($found[1]);
    return implode(' ', $found[1]);
};
[$worker] = $fpm->workers();
preg_match('/^PPid:\s+(\d+)/m', file_get_contents("/proc/$worker/status"), $master);
echo 'worker: ', $tables($worker), "\n", 'master: ', $tables((int) $master[1]) ?: 'none', "\n";
?>
--EXPECT--
true
worker: .host.v3 .statistics.v3 default.v3
master: none
