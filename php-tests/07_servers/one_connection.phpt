--TEST--
Servers: a process has one connection to a server, whatever the prefixes and directives; phpinfo() counts it
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.on_error=throw
token_bucket.timeout_ms=5000
token_bucket.connect_timeout_ms=5000
--FILE--
<?php
require dirname(__DIR__) . '/servers.inc';

$files = fn (): int => count(scandir('/proc/self/fd'));
$maps = fn (): int => preg_match_all('~ /.*$~m', file_get_contents('/proc/self/maps'));
$shown = function (string $dsn): string {
    ini_set('token_bucket.storage', $dsn);
    ob_start();
    (new ReflectionExtension('token_bucket'))->info();
    preg_match('/Connections of this process => (\d+)/', ob_get_clean(), $found);
    return $found[1] ?? 'none';
};
$servers = [];
foreach (['redis', 'memcached', SQL_SERVER] as $kind) {
    $server = $servers[] = new Server($kind);
    $dsn = $kind === SQL_SERVER ? prepared($server->dsn()) : $server->dsn();
    $connections = fn (): int => match ($kind) {
        'redis' => substr_count($server->ask('CLIENT LIST'), 'name=token_bucket'),
        'memcached' => $server->memcached_connections(),
        SQL_SERVER => (int) $server->sql("SELECT COUNT(*) FROM information_schema.processlist WHERE user = 'owner'"),
    };
    // That of prepared() may end late.
    $kind === SQL_SERVER && wait_until(fn (): bool => $connections() === 0);
    $none = $connections();
    echo $kind === SQL_SERVER ? 'sql' : $kind, ': ', $shown($dsn);
    (new TokenBucket($dsn, 'x', 10, 1))->consume();
    [$files_before, $maps_before] = [$files(), $maps()];
    for ($i = 0; $i < 300; $i++) {
        ini_set('token_bucket.prefix', "tenant$i:");
        ini_set('token_bucket.timeout_ms', (string) (4_000 + $i % 7));
        ini_set('token_bucket.enforce', (string) ($i % 2));
        $other = with($dsn, "prefix=dsn$i:&timeout_ms=" . (4_000 + $i % 5));
        foreach ([$dsn, $other] as $one) {
            if (!@(new TokenBucket($one, "client$i", 1, 0.001))->consume()) {
                echo " denied $one";
            }
        }
    }
    array_map(ini_restore(...), ['token_bucket.prefix', 'token_bucket.timeout_ms', 'token_bucket.enforce']);
    echo ', ', $shown($dsn), ', ', $connections() - $none, ', ', $files() - $files_before, ' files, ',
        $maps() - $maps_before <= 2 ? 'no' : $maps() - $maps_before, " mappings more\n";
}
?>
--EXPECT--
redis: 0, 1, 1, 0 files, no mappings more
memcached: 0, 1, 1, 0 files, no mappings more
sql: 0, 1, 1, 0 files, no mappings more
