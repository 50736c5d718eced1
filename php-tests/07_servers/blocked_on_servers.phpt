--TEST--
Servers: status() lists what this host has blocked, on every store and by the command, until it lifts the block
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.on_error=throw
token_bucket.timeout_ms=10000
token_bucket.connect_timeout_ms=10000
--FILE--
<?php
use TokenBucket\{CalendarWindow, FixedWindow, SlidingWindow};
use function TokenBucket\status;
require dirname(__DIR__) . '/servers.inc';

function command(string $dsn, string $words): string
{
    $options = getenv('TEST_PHP_EXTRA_ARGS') . ' -d token_bucket.on_error=throw -d token_bucket.timeout_ms=10000 -d token_bucket.connect_timeout_ms=10000';
    return shell_exec(escapeshellarg(PHP_BINARY) . " -n $options " . dirname(__DIR__, 2) . "/bin/token-bucket $words --storage " . escapeshellarg($dsn)
        . ' --user ' . posix_getpwuid(posix_geteuid())['name'] . ' 2>&1');
}
/** The algorithms that are blocked under an identifier, and whether each has the seconds that are left of $seconds. */
function blocked(string $id, int $seconds): string
{
    $blocked = array_filter(status()['blocked'], fn (array $block): bool => $block['identifier'] === $id);
    // Other tests run meanwhile.
    $is_right = fn (array $block): bool => $block['seconds'] > $seconds - 60 && $block['seconds'] <= $seconds;
    $algorithms = array_column($blocked, 'algorithm');
    sort($algorithms);
    return implode(' ', $algorithms) . (array_filter($blocked, $is_right) === $blocked ? '' : ' for ' . implode(' ', array_column($blocked, 'seconds')));
}
foreach (['TB_REDIS', 'TB_REDIS_CLUSTER', 'TB_REDIS_SENTINEL', 'TB_MEMCACHED', 'TB_MARIADB', 'TB_MYSQL'] as $name) {
    $dsn = server_dsn($name);
    $id = 'status-blocked:' . bin2hex(random_bytes(8));
    $limiters = [TokenBucket::per($dsn, $id, 9, 900), new FixedWindow($dsn, $id, 9, 900), new SlidingWindow($dsn, $id, 9, 900), new CalendarWindow($dsn, $id, 9, 'year')];
    foreach ($limiters as $limiter) {
        $limiter->block(900);
    }
    echo "$name: ", blocked($id, 900), '; ';
    $limiters[0]->block(100);
    $limiters[1]->block(1800);
    $limiters[2]->reset();
    $limiters[3]->reset();
    $limiters[1]->reset();
    echo blocked($id, 900), '; ';
    echo preg_replace(['~status-blocked:\w+~', '~1\d min.*?(?= before)~'], ['ID', 'TIME'], command($dsn, "unblock --identifier $id")), blocked($id, 0);
    command($dsn, "block --identifier $id 30m");
    echo blocked($id, 1800), "\n";
    command($dsn, "unblock --identifier $id");
}
// No password is among it, and nothing else of the DSN.
$server = new Server('redis');
$limiter = TokenBucket::per($server->dsn(), 'down:x', 5, 60);
$limiter->block(900);
echo json_encode(array_map('array_keys', array_slice(array_filter(status()['blocked'], fn (array $block): bool => $block['name'] === 'down'), 0, 1))), "\n";

// What the server has not confirmed is not listed, and what it has not lifted stays.
$server->kill();
foreach (['throw', 'fallback', 'open', 'closed'] as $policy) {
    $names = [];
    $down = TokenBucket::per($server->dsn("on_error=$policy"), 'down:y', 5, 60);
    foreach ([fn () => $down->block(900), fn () => TokenBucket::per($server->dsn("on_error=$policy"), 'down:x', 5, 60)->reset()] as $call) {
        try {
            @$call();
        } catch (TokenBucket\StorageException) {
        }
    }
    echo "$policy: ", implode(' ', array_filter(array_column(status()['blocked'], 'identifier'), fn (?string $id): bool => str_starts_with((string) $id, 'down:'))), "\n";
}
?>
--EXPECT--
TB_REDIS: calendar fixed_window sliding_window token_bucket; token_bucket; ID: unblocked, TIME before the block's end
calendar fixed_window sliding_window token_bucket
TB_REDIS_CLUSTER: calendar fixed_window sliding_window token_bucket; token_bucket; ID: unblocked, TIME before the block's end
calendar fixed_window sliding_window token_bucket
TB_REDIS_SENTINEL: calendar fixed_window sliding_window token_bucket; token_bucket; ID: unblocked, TIME before the block's end
calendar fixed_window sliding_window token_bucket
TB_MEMCACHED: calendar fixed_window sliding_window token_bucket; token_bucket; ID: unblocked, TIME before the block's end
calendar fixed_window sliding_window token_bucket
TB_MARIADB: calendar fixed_window sliding_window token_bucket; token_bucket; ID: unblocked, TIME before the block's end
calendar fixed_window sliding_window token_bucket
TB_MYSQL: calendar fixed_window sliding_window token_bucket; token_bucket; ID: unblocked, TIME before the block's end
calendar fixed_window sliding_window token_bucket
[["name","identifier","algorithm","enforced","seconds"]]
throw: down:x
fallback: down:x
open: down:x
closed: down:x
