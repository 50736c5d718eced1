--TEST--
MariaDB and MySQL behind an address that moves: a worker of the old primary, which is read-only, gets to the new one; denied clients stay denied where there is none
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.timeout_ms=5000
token_bucket.connect_timeout_ms=5000
token_bucket.deny_cache=0
token_bucket.on_error=open
--FILE--
<?php
require dirname(__DIR__, 2) . '/servers.inc';
require dirname(__DIR__, 2) . '/processes.inc';

$ways = [
    'mariadbd: read_only (1290)' => 'SET GLOBAL read_only = 1',
    'mysqld: super_read_only (1290)' => 'SET GLOBAL super_read_only = 1',
    'mysqld: transaction_read_only (1792)' => 'SET GLOBAL transaction_read_only = 1',
];
/** @var array<string, Server[]> two of each kind */
$servers = [];
foreach ($ways as $what => $become) {
    $kind = strstr($what, ':', true);
    [$old, $new] = $servers[$kind] ??= [new Server($kind), new Server($kind)];
    $table = 'table=t' . preg_replace('/\D/', '', $what);
    array_map(fn (Server $server): string => prepared($server->dsn($table)), [$old, $new]);
    $address = new MovingAddress($old);
    $dsn = "mysql://owner:s3cret@127.0.0.1:$address->port/limits?$table";
    $answers = function (string $client) use ($dsn): string {
        $decision = @(new TokenBucket($dsn, $client, 1, 0.0001))->attempt();
        return ($decision->isAccepted() ? 'accepted' : 'denied') . ($decision->isDegraded() ? ', degraded' : '');
    };
    $sessions = fn (): int => (int) explode("\t", $old->sql("SHOW GLOBAL STATUS LIKE 'Connections'"))[1];
    $rows = fn (Server $server, string $client): string => $server->sql('SELECT COUNT(*) FROM t' . preg_replace('/\D/', '', $what) . " WHERE identifier = '$client'");
    echo "$what\n    before: ", $answers('a'), ', then ', $answers('a'), "\n";
    $old->sql($become);
    $worker = function () use ($answers, $sessions, $rows, $address, $old, $new): void {
        echo '    nowhere to go: the limited client ', $answers('a'), ', a new one ', $answers('b'), '; ', $answers('a'), "\n";
        $before = $sessions();
        $begin = hrtime(true);
        for ($i = 0; $i < 30; $i++) {
            $answers("b$i");
        }
        $seconds = (hrtime(true) - $begin) / 1e9;
        $opened = $sessions() - $before - 1; // its own
        echo '    30 new clients: ', $opened <= $seconds + 1 ? 'at most one session a second' : "$opened sessions", "\n";
        $address->lead_to($new);
        wait_until(fn (): bool => !str_contains($answers(bin2hex(random_bytes(4))), 'degraded'));
        echo '    moved: a new client ', $answers('d'), ', then ', $answers('d'), '; rows of it: ', $rows($old, 'd'), ' and ', $rows($new, 'd'), "\n";
    };
    // An option that concerns sessions which begin later: the worker begins later, too.
    str_contains($what, 'transaction') ? in_processes(1, $worker) : $worker();
    $old->sql('SET GLOBAL super_read_only = 0');
    $old->sql('SET GLOBAL read_only = 0');
}
?>
--EXPECT--
mariadbd: read_only (1290)
    before: accepted, then denied
    nowhere to go: the limited client denied, a new one accepted, degraded; denied
    30 new clients: at most one session a second
    moved: a new client accepted, then denied; rows of it: 0 and 1
mysqld: super_read_only (1290)
    before: accepted, then denied
    nowhere to go: the limited client denied, a new one accepted, degraded; denied
    30 new clients: at most one session a second
    moved: a new client accepted, then denied; rows of it: 0 and 1
mysqld: transaction_read_only (1792)
    before: accepted, then denied
    nowhere to go: the limited client denied, a new one accepted, degraded; denied
    30 new clients: at most one session a second
    moved: a new client accepted, then denied; rows of it: 0 and 1
