--TEST--
Servers at addresses that are not the loopback: Redis's protected mode says why it closes a connection; an IPv6 zone leads to a server, and a wrong one is told
--EXTENSIONS--
pcntl
posix
--SKIPIF--
<?php
exec('unshare -n sh -c "ip link set lo up && ip addr add 10.9.9.1/32 dev lo && ip addr add fe80::7/64 dev lo nodad" 2>&1', $output, $status);
if ($status !== 0) {
    die('skip no network of its own can be had here: ' . end($output));
}
?>
--INI--
token_bucket.on_error=throw
token_bucket.timeout_ms=5000
token_bucket.connect_timeout_ms=5000
--FILE--
<?php
require dirname(__DIR__) . '/servers.inc';

// A network of the test's own.
if (!getenv('TB_APART')) {
    $php = escapeshellarg(PHP_BINARY) . ' -n ' . getenv('TEST_PHP_EXTRA_ARGS');
    passthru("TB_APART=1 unshare -n $php " . escapeshellarg(__FILE__));
    exit;
}
exec('ip link set lo up && ip addr add 10.9.9.1/32 dev lo && ip addr add fe80::7/64 dev lo nodad', $output, $status);
$status === 0 || give_up(implode("\n", $output));
function told(string $dsn): void
{
    try {
        echo json_encode((new TokenBucket($dsn, 'x', 10, 1))->consume()), "\n";
    } catch (TokenBucket\StorageException $e) {
        echo preg_replace('/:\d{4,5}\b/', ':PORT', $e->getMessage()), "\n";
    }
}
// Each database and each login has a breaker of its own.
$server = new Server('redis', ['--bind', '127.0.0.1', '10.9.9.1']);
told("redis://10.9.9.1:$server->port");
told("redis://10.9.9.1:$server->port/1");
told("redis://:s3cret@10.9.9.1:$server->port/2");

// Both ways to write a zone. "%ec" is no byte of the name.
$server = new Server('redis', ['--bind', '127.0.0.1', 'fe80::7%lo', '--protected-mode', 'no']);
told("redis://[fe80::7%lo]:$server->port");
told("redis://[fe80::7%25lo]:$server->port");
told("redis://[fe80::7%ec2]:$server->port/1");
told("redis://[fe80::7]:$server->port/2");
?>
--EXPECT--
Redis at 10.9.9.1:PORT: DENIED Redis is running in protected mode because protected mode is enabled and no password is set for the default user; set one, and name it in the storage DSN
Redis at 10.9.9.1:PORT: DENIED Redis is running in protected mode because protected mode is enabled and no password is set for the default user; set one, and name it in the storage DSN
Redis at 10.9.9.1:PORT: DENIED Redis is running in protected mode because protected mode is enabled and no password is set for the default user; set one, and name it in the storage DSN
true
true
Redis at [fe80::7%ec2]:PORT: cannot connect: this host has no interface of the name after "%", or the address is none of IPv6
Redis at [fe80::7]:PORT: cannot connect: a link-local address needs its zone, such as [fe80::1%eth0]
