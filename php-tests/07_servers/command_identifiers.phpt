--TEST--
Servers: bin/token-bucket sees, blocks and resets what is stored under an identifier, on every store
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.on_error=throw
token_bucket.timeout_ms=10000
token_bucket.connect_timeout_ms=10000
--FILE--
<?php
require dirname(__DIR__) . '/servers.inc';

/** What the command says of the identifier, by algorithm. */
function states(string $dsn, string $id): array
{
    return array_column(json_decode(command($dsn, "peek --identifier $id --json"), true)['states'], null, 'algorithm');
}
function command(string $dsn, string $words): string
{
    $options = getenv('TEST_PHP_EXTRA_ARGS') . ' -d token_bucket.on_error=throw -d token_bucket.timeout_ms=10000 -d token_bucket.connect_timeout_ms=10000';
    return shell_exec(escapeshellarg(PHP_BINARY) . " -n $options " . dirname(__DIR__, 2) . "/bin/token-bucket $words --storage " . escapeshellarg($dsn)
        . ' --user ' . posix_getpwuid(posix_geteuid())['name'] . ' 2>/dev/null');
}
foreach (['TB_REDIS', 'TB_REDIS_CLUSTER', 'TB_MEMCACHED', 'TB_MARIADB', 'TB_MYSQL'] as $name) {
    $dsn = server_dsn($name);
    $id = 'command:' . bin2hex(random_bytes(8));
    $limiters = [TokenBucket::per($dsn, $id, 9, 900), new TokenBucket\FixedWindow($dsn, $id, 9, 900), new TokenBucket\SlidingWindow($dsn, $id, 9, 900),
        new TokenBucket\CalendarWindow($dsn, $id, 9, 'year')];
    $accepted = fn (): string => implode(' ', array_map(fn (TokenBucket\Limiter $limiter): string => $limiter->consume(3) ? 'accepted' : 'denied', $limiters));

    echo "$name: ", $accepted(), '; ';
    $states = states($dsn, $id);
    echo (int) round($states['token_bucket']['seconds'] / 300), ' ', $states['fixed_window']['hits'], ' ', $states['sliding_window']['hits'], ' ', $states['calendar']['hits'], '; ';
    command($dsn, "block --identifier $id 600");
    echo $accepted(), '; ';
    echo implode(' ', array_map(fn (array $state): string => $state['blocked'] ? 'blocked' : 'open', states($dsn, $id))), '; ';
    command($dsn, "reset --identifier $id");
    // This host's deny cache is this process's, too: the command has cleared it.
    echo count(states($dsn, $id)), '; ', $accepted(), "\n";
}
?>
--EXPECT--
TB_REDIS: accepted accepted accepted accepted; 1 3 3 3; denied denied denied denied; blocked blocked blocked blocked; 0; accepted accepted accepted accepted
TB_REDIS_CLUSTER: accepted accepted accepted accepted; 1 3 3 3; denied denied denied denied; blocked blocked blocked blocked; 0; accepted accepted accepted accepted
TB_MEMCACHED: accepted accepted accepted accepted; 1 3 3 3; denied denied denied denied; blocked blocked blocked blocked; 0; accepted accepted accepted accepted
TB_MARIADB: accepted accepted accepted accepted; 1 3 3 3; denied denied denied denied; blocked blocked blocked blocked; 0; accepted accepted accepted accepted
TB_MYSQL: accepted accepted accepted accepted; 1 3 3 3; denied denied denied denied; blocked blocked blocked blocked; 0; accepted accepted accepted accepted
