--TEST--
Servers: a firewall that drops packets and a slow name server are reported as what they are; a name that is looked up late is used
--EXTENSIONS--
pcntl
posix
--SKIPIF--
<?php
exec('unshare -nm sh -c "ip link set lo up && nft add table ip loss && mount --bind /etc/hosts /etc/resolv.conf" 2>&1', $output, $status);
if ($status !== 0) {
    die('skip no network of its own can be had here: ' . end($output));
}
?>
--FILE--
<?php
require dirname(__DIR__, 2) . '/servers.inc';

// A network and mounts of the test's own.
if (!getenv('TB_APART')) {
    $php = escapeshellarg(PHP_BINARY) . ' -n ' . getenv('TEST_PHP_EXTRA_ARGS');
    passthru("TB_APART=1 unshare -nm $php " . escapeshellarg(__FILE__));
    exit;
}
$folder = temporary_folder();
file_put_contents("$folder/resolv.conf", "nameserver 127.0.0.1\noptions timeout:5 attempts:1\n");
file_put_contents("$folder/nsswitch.conf", "hosts: dns\n");
exec("ip link set lo up && mount --bind $folder/resolv.conf /etc/resolv.conf && mount --bind $folder/nsswitch.conf /etc/nsswitch.conf", $output, $status);
$status === 0 || give_up('no network');

/** Makes calls and shows what decided, and what PHP warned of. */
function show(string $what, string $dsn, int $calls): void
{
    $by = [];
    $said = warnings(function () use ($dsn, $calls, &$by): void {
        for ($i = 0; $i < $calls; $i++) {
            $by[] = (new TokenBucket($dsn, "client $i", 10, 1))->attempt()->isDegraded() ? 'degraded' : 'by the store';
            usleep(50_000);
        }
    });
    echo "$what: ", implode(', ', $by), "\n    ", preg_replace('/at \S+?:/', 'at SERVER:', implode("\n    ", $said) ?: 'no warning'), "\n";
}

// A name server that answers each question after a second: one address, 127.0.0.1.
$pid = pcntl_fork();
if ($pid === 0) {
    $socket = stream_socket_server('udp://127.0.0.1:53', flags: STREAM_SERVER_BIND);
    $due = [];
    while (true) {
        $read = [$socket];
        if (stream_select($read, $write, $except, 0, 10_000) && ($question = stream_socket_recvfrom($socket, 512, 0, $from))) {
            $due[] = [hrtime(true) + 1e9, $question, $from];
        }
        while ($due && hrtime(true) > $due[0][0]) {
            [, $question, $from] = array_shift($due);
            $end = strpos($question, "\0", 12) + 5;
            $is_ipv4 = substr($question, $end - 4, 2) === "\0\1";
            $answer = substr($question, 0, 2) . "\x81\x80\0\1" . ($is_ipv4 ? "\0\1" : "\0\0") . "\0\0\0\0" . substr($question, 12, $end - 12)
                . ($is_ipv4 ? "\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4\x7f\0\0\1" : '');
            stream_socket_sendto($socket, $answer, 0, $from);
        }
    }
}
register_shutdown_function(fn () => posix_kill($pid, SIGKILL));
$redis = new Server('redis');
show('a slow name server', "redis://redis.example:$redis->port", 2);

// A firewall drops what is sent on connections that are open.
foreach (['redis' => $redis, SQL_SERVER => new Server(SQL_SERVER)] as $kind => $server) {
    $kind === 'redis' || prepared($server->dsn());
    foreach (range(0, 3) as $client) {
        $decision = (new TokenBucket($server->dsn(), "client $client", 10, 1))->attempt();
    }
    exec("nft add table ip wall && nft add chain ip wall out '{ type filter hook output priority 0; }' && nft add rule ip wall out tcp dport $server->port drop");
    show("$kind behind a firewall", $server->dsn(), 4);
    exec('nft delete table ip wall');
}
?>
--EXPECTF--
a slow name server: by the store, by the store
    no warning
redis behind a firewall: degraded, degraded, degraded, degraded
    TokenBucket::attempt(): Redis at SERVER:PORT: %Sno answer in time; until a call succeeds, limits are enforced in this host's shared memory
%s behind a firewall: degraded, degraded, degraded, degraded
    TokenBucket::attempt(): MySQL at SERVER:PORT: %Ano answer in time; until a call succeeds, limits are enforced in this host's shared memory
