--TEST--
A Galera node that serves nothing (1047) and a memcached that is lost, behind an address that moves: the worker gets to the new one; a memcached that lives on keeps its workers
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.timeout_ms=5000
token_bucket.connect_timeout_ms=5000
token_bucket.deny_cache=0
token_bucket.on_error=closed
--FILE--
<?php
require dirname(__DIR__, 2) . '/servers.inc';

/** Moves the address and loses the old server; tells which server then has a new client's state. */
function show(string $what, string $dsn, callable $lose, callable $has): void
{
    $answers = fn (string $client): string => @(new TokenBucket($dsn, $client, 1, 0.0001))->attempt()->isDegraded() ? 'degraded' : 'by the store';
    echo "$what\n    before: ", $answers('before'), ', ', $has('before'), "\n";
    $lose($answers);
    wait_until(fn (): bool => $answers(bin2hex(random_bytes(4))) === 'by the store');
    echo '    then: ', $answers('then'), ', ', $has('then'), "\n";
}

$provider = glob('/usr/lib{,64}/galera*/libgalera_smm.so', GLOB_BRACE)[0] ?? give_up('Galera is not installed (Debian: galera-4)');
$old = new Server('mariadbd', ['--wsrep-on=ON', "--wsrep-provider=$provider", '--wsrep-cluster-address=gcomm://', '--binlog-format=ROW', '--innodb-autoinc-lock-mode=2',
    '--wsrep-node-address=127.0.0.1', '--wsrep-provider-options=gmcast.listen_addr=tcp://127.0.0.1:' . free_port() . ';base_host=127.0.0.1']);
$new = new Server('mariadbd');
wait_until(fn (): bool => str_contains($old->sql("SHOW STATUS LIKE 'wsrep_ready'"), 'ON'));
array_map(fn (Server $server): string => prepared($server->dsn()), [$old, $new]);
$address = new MovingAddress($old);
show('Galera', "mysql://owner:s3cret@127.0.0.1:$address->port/limits", function () use ($address, $old, $new): void {
    $old->sql('SET GLOBAL wsrep_reject_queries = ALL');
    try {
        (new TokenBucket("mysql://owner:s3cret@127.0.0.1:$address->port/limits?on_error=throw", 'x', 1, 0.0001))->consume();
    } catch (TokenBucket\StorageException $e) {
        echo '    a node that is not ready: ', str_replace((string) $address->port, 'PORT', $e->getMessage()), "\n";
    }
    $address->lead_to($new);
}, fn (string $client): string => $new->sql("SELECT COUNT(*) FROM token_bucket WHERE identifier = '$client'") === '1' ? 'on the new one' : 'not on the new one');
[$old, $new] = [new Server('memcached'), new Server('memcached')];
$address = new MovingAddress($old);
$has = fn (string $client): string => str_starts_with($new->ask("mg tb:$client"), 'HD') ? 'on the new one' : 'not on the new one';
show('memcached', "memcached://127.0.0.1:$address->port", function (callable $answers) use ($address, $old, $new, $has): void {
    $address->lead_to($new);
    echo '    the old one lives on: ', $answers('meanwhile'), ', ', $has('meanwhile'), "\n";
    $old->kill();
}, $has);
?>
--EXPECT--
Galera
    before: by the store, not on the new one
    a node that is not ready: MySQL at 127.0.0.1:PORT: WSREP has not yet prepared node for application use (error 1047)
    then: by the store, on the new one
memcached
    before: by the store, not on the new one
    the old one lives on: by the store, not on the new one
    then: by the store, on the new one
