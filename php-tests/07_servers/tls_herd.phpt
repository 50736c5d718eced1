--TEST--
TLS: workers that begin at once all get a connection, and again after the server was restarted
--EXTENSIONS--
pcntl
posix
--CONFLICTS--
all
--FILE--
<?php
require dirname(__DIR__) . '/servers.inc';
require dirname(__DIR__) . '/processes.inc';

define('WORKERS', (int) (getenv('WORKERS') ?: 200));

$port = free_port();
$certificates = getenv('TB_SERVERS');
$server = new Server('redis', ['--maxclients', WORKERS + 100, '--tls-port', $port, '--tls-ca-cert-file', "$certificates/ca.pem", '--tls-cert-file', "$certificates/server.pem", '--tls-key-file', "$certificates/server.key"]);
$dsn = "rediss://127.0.0.1:$port?ca=$certificates/ca.pem&cert=$certificates/client.pem&key=$certificates/client.key";

// Each worker makes some 20 calls a second, as under load. When all are connected the first one
// restarts the server.
$results = at_once(WORKERS, function (int $worker) use ($server, $dsn): callable {
    seed_chance($worker);
    $bucket = new TokenBucket($dsn, "client $worker", 100_000, 100);
    $seconds = fn (int $since): float => (hrtime(true) - $since) / 1e9;
    $until_decided = function (int $since) use ($bucket, $seconds): float {
        while (@$bucket->attempt()->isDegraded() && $seconds($since) < 60) {
            usleep(mt_rand(40_000, 60_000));
        }
        return $seconds($since);
    };
    return function (int $begin) use ($server, $worker, $bucket, $seconds, $until_decided): array {
        $connected = $until_decided($begin);
        touch("$server->folder/connected.$worker");
        if ($worker === 0) {
            wait_until(fn (): bool => count(glob("$server->folder/connected.*")) === WORKERS);
            $server->kill();
            $server->start();
            touch("$server->folder/restarted");
        }
        while (!file_exists("$server->folder/restarted")) {
            @$bucket->attempt();
            usleep(50_000);
        }
        $restarted = hrtime(true);
        // All have seen by then that the server was gone.
        for ($again = 0.0; $seconds($restarted) < 3 || $again > $seconds($restarted) - 1; usleep(50_000)) {
            if (@$bucket->attempt()->isDegraded()) {
                $again = $seconds($restarted);
            }
            if ($seconds($restarted) > 60) {
                break;
            }
        }
        touch("$server->folder/done.$worker");
        // The server ends with the process that started it.
        $worker === 0 && wait_until(fn (): bool => count(glob("$server->folder/done.*")) === WORKERS);
        return [$connected, $again];
    };
});
foreach (['begun', 'restarted'] as $i => $when) {
    $longest = max(array_column($results, $i));
    // Less than two seconds on a quiet machine of two cores.
    echo "$when: ", $longest < 50 ? 'all connected' : "$longest s", "\n";
    getenv('WORKERS') && printf("%.2f s\n", $longest);
}
?>
--EXPECT--
begun: all connected
restarted: all connected
