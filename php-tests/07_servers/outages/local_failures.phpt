--TEST--
Servers: a process without network, descriptors, names or the right to open a socket fails over alone; other processes of its user go on
--EXTENSIONS--
pcntl
posix
--SKIPIF--
<?php
if (posix_geteuid() !== 0) {
    die('skip only root can take a network away');
}
if (!function_exists('chroot')) {
    die('skip this PHP has no chroot()');
}
if (!@pcntl_unshare(CLONE_NEWNET)) {
    die('skip no network can be taken away here');
}
?>
--INI--
token_bucket.timeout_ms=5000
token_bucket.connect_timeout_ms=5000
--FILE--
<?php
require dirname(__DIR__, 2) . '/servers.inc';
require dirname(__DIR__, 2) . '/processes.inc';

chmod(ini_get('token_bucket.shm_path'), 01777);

/** What the bucket says in this process, and what is warned of. */
function told(TokenBucket $bucket): string
{
    $told = '';
    $said = warnings(function () use ($bucket, &$told): void {
        foreach ([1, 2, 3] as $time) {
            $told .= $bucket->attempt()->isDegraded() ? 'degraded, ' : 'by the store, ';
        }
    });
    return $told . (preg_replace(['/^.*?: \w+ at \S+ /', '~/tmp/\S+~', '/:\d+:/', '/: [\w ]+ \(os error/'], ['', 'PATH', ':PORT:', ': ... (os error'], implode(' | ', $said)) ?: 'no warning');
}

/** One process goes on while another of the same user, which $breaks, fails over. */
function alone(string $what, string $dsn, callable $breaks, ?callable $mends = null): void
{
    $bucket = new TokenBucket($dsn, 'x', 1000, 0.001);
    $bucket->peek();
    [$told] = in_processes(1, function () use ($bucket, $breaks, $mends): string {
        $breaks();
        $told = told($bucket);
        if ($mends) {
            $mends();
            wait_until_back($bucket);
            $told .= "\n    and back";
        }
        return $told;
    });
    echo "$what\n    $told\n    the other process: ", told($bucket), "\n";
}

$unix = new Server('redis+unix');
foreach (['redis' => new Server('redis'), 'memcached' => new Server('memcached')] as $kind => $server) {
    alone("$kind, without network", $server->dsn(), fn () => pcntl_unshare(CLONE_NEWNET));
}
alone('without descriptors', $server->dsn(), function () use (&$mend): void {
    $mend = popen('read line; exec prlimit --nofile=1024: --pid ' . getmypid(), 'w');
    exec('prlimit --nofile=3: --pid ' . getmypid());
}, function () use (&$mend): void {
    fwrite($mend, "\n");
    pclose($mend);
});
$empty = "$unix->folder/empty";
mkdir($empty);
alone('in a folder of its own', $unix->dsn(), fn () => chroot($empty));
alone('without names', 'redis://localhost:' . (new Server('redis'))->port, fn () => chroot($empty));

// Two processes of one user, one of which is not in the group that may open the socket.
$group = 54321;
chgrp($unix->folder, $group);
chmod($unix->folder, 0750);
[$told] = in_processes(1, function () use ($unix, $group): string {
    $nobody = posix_getpwnam('nobody')['uid'];
    ob_start();
    $become = function (int $group) use ($nobody): void {
        posix_initgroups('nobody', $group);
        posix_setgid($group);
        posix_setuid($nobody);
    };
    // Of each kind one process, which keep to an order by what they write.
    $pair = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    $bucket = new TokenBucket($unix->dsn('prefix=group:'), 'x', 1000, 0.001);
    if (pcntl_fork() === 0) {
        $become($group);
        $bucket->peek();
        fwrite($pair[0], "ready\n");
        fgets($pair[0]);
        fwrite($pair[0], told($bucket) . "\n");
        posix_kill(getmypid(), SIGKILL);
    }
    fgets($pair[1]);
    $become($nobody);
    $told = told($bucket);
    fwrite($pair[1], "go on\n");
    return "$told\n    the other process: " . fgets($pair[1]);
});
echo "without the right\n    $told";
?>
--EXPECT--
redis, without network
    degraded, degraded, degraded, cannot connect: ... (os error 101); until this process can ask it, limits are enforced in this host's shared memory
    the other process: by the store, by the store, by the store, no warning
memcached, without network
    degraded, degraded, degraded, cannot connect: ... (os error 101); until this process can ask it, limits are enforced in this host's shared memory
    the other process: by the store, by the store, by the store, no warning
without descriptors
    degraded, degraded, degraded, cannot connect: ... (os error 24); until this process can ask it, limits are enforced in this host's shared memory
    and back
    the other process: by the store, by the store, by the store, no warning
in a folder of its own
    degraded, degraded, degraded, no warning
    the other process: by the store, by the store, by the store, no warning
without names
    degraded, degraded, degraded, cannot connect: the host name is not known; until this process can ask it, limits are enforced in this host's shared memory
    the other process: by the store, by the store, by the store, no warning
without the right
    degraded, degraded, degraded, cannot connect: ... (os error 13); until this process can ask it, limits are enforced in this host's shared memory
    the other process: by the store, by the store, by the store, no warning
