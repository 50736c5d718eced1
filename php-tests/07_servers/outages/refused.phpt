--TEST--
Servers: a wrong password, authority, certificate, name or file is reported without secrets
--INI--
token_bucket.on_error=throw
token_bucket.timeout_ms=5000
token_bucket.connect_timeout_ms=5000
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require dirname(__DIR__, 2) . '/servers.inc';

function told(string $dsn): void
{
    try {
        (new TokenBucket($dsn, 'x', 1, 1))->consume();
        echo "no exception\n";
    } catch (TokenBucket\StorageException $e) {
        echo preg_match('/hunter2|s3cret/', $e->getMessage()) ? 'LEAK ' : '',
            preg_replace(['/:\d{4,5}/', '~/\S*/token_bucket-servers\.\w+~'], [':PORT', '/SERVERS'], $e->getMessage()), "\n";
    }
}

$address = substr(strstr(server_dsn('TB_REDIS'), '@'), 1);
told("redis://:hunter2@$address");
told("redis://joe:hunter2@$address");
told("redis://$address");
told(server_dsn('TB_REDIS') . '/99');
$servers = getenv('TB_SERVERS');
$tls = preg_replace('~^rediss://(.*)/2\?.*$~', 'rediss://$1', server_dsn('TB_REDIS_TLS'));
$certificate = "cert=$servers/client.pem&key=$servers/client.key";
told("$tls?ca=$servers/other-ca.pem&$certificate");
told("$tls?$certificate");
told("$tls?ca=$servers/ca.pem");
told("$tls?ca=$servers/none.pem");
told("$tls?ca=$servers/certificates.log");
told("$tls?ca=$servers/ca.pem&cert=$servers/client.pem&key=$servers/client.pem");
told("rediss://$address?ca=$servers/ca.pem");
told('redis://no-such-host.invalid');
told('memcached://no-such-host.invalid');
told('redis+unix:///nonexistent/redis.sock');
told('redis+sentinel://' . substr(server_dsn('TB_REDIS_SENTINEL'), 17, -5) . '/other');
told('memcached://' . $address);
$open = new Server('redis');
told("redis://:hunter2@127.0.0.1:$open->port");
// Of an authority that is known; each database has a breaker of its own.
$port = free_port();
$encrypted = new Server('redis', ['--tls-port', $port, '--tls-ca-cert-file', "$servers/ca.pem", '--tls-cert-file', "$servers/server.pem",
    '--tls-key-file', "$servers/server.key", '--tls-auth-clients', 'no']);
foreach (['server', 'other-names', 'expired', 'server'] as $db => $name) {
    $encrypted->ask("CONFIG SET tls-cert-file $servers/$name.pem");
    told("rediss://127.0.0.1:$port/$db?ca=$servers/ca.pem");
}
// That of the authority itself, which is how a self-signed one mostly looks.
$encrypted->ask("CONFIG SET tls-cert-file $servers/ca.pem tls-key-file $servers/ca.key");
told("rediss://127.0.0.1:$port/4?ca=$servers/ca.pem");
// One of X.509 version 1, which has no extensions.
$new = "openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=127.0.0.1 -keyout v1.key -out v1.csr";
// From 3.4 on OpenSSL makes one of version 3, unless asked; before, it could not be asked.
$from = "-in v1.csr -CA $servers/ca.pem -CAkey $servers/ca.key -set_serial 77 -days 2 -out v1.pem";
$sign = "{ openssl req -config /dev/null -x509 -x509v1 $from || openssl x509 -req -extfile /dev/null $from; }";
exec("cd $encrypted->folder && { $new && $sign; } 2>&1", $output, $status);
$status === 0 || give_up(implode("\n", $output));
$encrypted->ask("CONFIG SET tls-cert-file $encrypted->folder/v1.pem tls-key-file $encrypted->folder/v1.key");
told("rediss://127.0.0.1:$port/5?ca=$servers/ca.pem");
told('redis://' . preg_replace('~^redis\+cluster://([^,]+).*~', '$1', server_dsn('TB_REDIS_CLUSTER')));
// It quotes what it was sent, cut short.
$without = new Server('redis', ['--rename-command', 'AUTH', 'NOAUTH']);
told("redis://:hunter2@127.0.0.1:$without->port");
told('redis://joe:' . str_repeat('hunter2', 30) . "@127.0.0.1:$without->port");
// A command that is missing, before a whole script and within a call: neither the client nor bytes that are no text are quoted.
foreach ([['EVALSHA', ''], ['EVAL', '']] as $i => $renamed) {
    $without = new Server('redis', ['--rename-command', ...$renamed]);
    told("redis://127.0.0.1:$without->port/$i");
}
// A memcached that tells no two values of an item apart: prepare() says it, and so does the second call on a key.
$without = new Server('memcached', ['-C']);
try {
    (new TokenBucket\MemcachedStorage($without->dsn()))->prepare();
} catch (TokenBucket\StorageException $e) {
    echo 'prepare(): ', preg_replace('/:\d{4,5}/', ':PORT', $e->getMessage()), "\n";
}
told($without->dsn());
told($without->dsn());
(new TokenBucket\MemcachedStorage((new Server('memcached'))->dsn()))->prepare();
?>
--EXPECTF--
Redis at 127.0.0.1:PORT: WRONGPASS invalid username-password pair or user is disabled
Redis at 127.0.0.1:PORT: WRONGPASS invalid username-password pair or user is disabled
Redis at 127.0.0.1:PORT: NOAUTH Authentication required
Redis at 127.0.0.1:PORT: ERR DB index is out of range
Redis at 127.0.0.1:PORT: cannot connect: TLS: its certificate is not signed by an authority that is trusted here; ca= in the storage DSN names an authority to trust
Redis at 127.0.0.1:PORT: cannot connect: TLS: its certificate is not signed by an authority that is trusted here; ca= in the storage DSN names an authority to trust
Redis at 127.0.0.1:PORT: %s
Redis at 127.0.0.1:PORT: the TLS file /SERVERS/none.pem cannot be used: No such file or directory
Redis at 127.0.0.1:PORT: the TLS file /SERVERS/certificates.log cannot be used: it has no certificate
Redis at 127.0.0.1:PORT: the TLS file /SERVERS/client.pem cannot be used: it has no PEM block of the expected kind
Redis at 127.0.0.1:PORT: cannot connect: %s
Redis at no-such-host.invalid:PORT: cannot connect: the host name is not known
memcached at no-such-host.invalid:PORT: cannot connect: the host name is not known
Redis at /nonexistent/redis.sock: cannot connect: No such file or directory (os error 2)
Redis at 127.0.0.1:PORT: the sentinel does not know the master
memcached at 127.0.0.1:PORT: %s
Redis at 127.0.0.1:PORT: ERR there is no password to this server; take it out of the storage DSN
no exception
Redis at 127.0.0.1:PORT: cannot connect: TLS: its certificate is not for 127.0.0.1, but for 127.0.0.2, other.invalid?forged; reach the server by a name that it is valid for, or add this one to it
Redis at 127.0.0.1:PORT: cannot connect: TLS: its certificate expired %d seconds ago; renew it, or set this host's clock right
no exception
Redis at 127.0.0.1:PORT: cannot connect: TLS: its certificate is that of an authority, as a self-signed one mostly is; sign one for the server by it, with CA:FALSE, and name the authority as ca= in the storage DSN
Redis at 127.0.0.1:PORT: cannot connect: TLS: its certificate is one of X.509 version 1, and version 3 is needed; sign one with extensions, such as the names that it is valid for (openssl x509 -req -extfile)
Redis at 127.0.0.1:PORT: MOVED %d 127.0.0.1:PORT; it is a node of a cluster, for redis+cluster:
Redis at 127.0.0.1:PORT: ERR it does not take the password
Redis at 127.0.0.1:PORT: ERR it does not take the password
Redis at 127.0.0.1:PORT: ERR unknown command 'EVALSHA', which this extension needs
Redis at 127.0.0.1:PORT: ERR unknown command 'EVAL', which this extension needs
prepare(): memcached at 127.0.0.1:PORT: it keeps no numbers for compare-and-swap; start memcached without -C, or name a server that keeps them
no exception
memcached at 127.0.0.1:PORT: it keeps no numbers for compare-and-swap; start memcached without -C, or name a server that keeps them
