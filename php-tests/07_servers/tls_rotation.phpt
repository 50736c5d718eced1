--TEST--
TLS: a renewed authority and client certificate are read again while a worker runs
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

/** An authority, and what it has signed for a server and for a client. */
function make_certificates(string $folder): void
{
    mkdir($folder);
    $new = 'openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes';
    $commands = ["$new -x509 -days 2 -subj /CN=" . basename($folder) . ' -keyout ca.key -out ca.pem', "printf 'subjectAltName=IP:127.0.0.1\\n' >names"];
    foreach (['server', 'client'] as $name) {
        $commands[] = "$new -subj /CN=$name -keyout $name.key -out $name.csr";
        $commands[] = "openssl x509 -req -in $name.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names -out $name.pem";
    }
    exec("cd $folder && { " . implode(' && ', $commands) . '; } 2>&1', $output, $status);
    $status === 0 || give_up(implode("\n", $output));
}

$port = free_port();
$servers = getenv('TB_SERVERS');
$server = new Server('redis', ['--tls-port', $port, '--tls-ca-cert-file', "$servers/ca.pem", '--tls-cert-file', "$servers/server.pem", '--tls-key-file', "$servers/server.key"]);
make_certificates($old = "$server->folder/old");
make_certificates($new = "$server->folder/new");
$use = fn (string $folder): string => strstr($server->ask("CONFIG SET tls-cert-file $folder/server.pem tls-key-file $folder/server.key tls-ca-cert-file $folder/ca.pem"), "\r", true) . "\n";
echo $use($old);

mkdir($own = "$server->folder/own");
$install = function (string $folder, string ...$names) use ($own): void {
    foreach ($names as $name) {
        copy("$folder/$name", "$own/$name.new");
        rename("$own/$name.new", "$own/$name");
    }
};
$install($old, 'ca.pem', 'client.pem', 'client.key');
$bucket = new TokenBucket("rediss://127.0.0.1:$port?ca=$own/ca.pem&cert=$own/client.pem&key=$own/client.key", 'x', 10, 0.0001);
$told = function () use ($bucket): string {
    try {
        return $bucket->peek()->getRemainingTokens() . " left\n";
    } catch (TokenBucket\StorageException $e) {
        return preg_replace('/:\d+:/', ':PORT:', $e->getMessage()) . "\n";
    }
};
$bucket->consume();
echo $told();

// In the midst of it the key is not the certificate's: what was read before serves for connections that are made now.
$install($new, 'client.pem');
usleep(1_100_000); // the files are looked at once a second, by the system's clock
$server->ask('CLIENT KILL TYPE normal');
echo 'half renewed: ', $told();

$install($new, 'ca.pem', 'client.key');
echo $use($new);
$server->ask('CLIENT KILL TYPE normal');
wait_until(fn (): bool => str_ends_with($told(), " left\n"));
echo 'renewed: ', $told();
?>
--EXPECT--
+OK
9 left
half renewed: 9 left
+OK
renewed: 9 left
