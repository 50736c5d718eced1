--TEST--
MySQL: caching_sha2_password and sha256_password log in; over TCP without TLS only a proof of the password is sent; errors show no secrets
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.on_error=throw
token_bucket.deny_cache=0
token_bucket.timeout_ms=5000
token_bucket.connect_timeout_ms=5000
--FILE--
<?php
require dirname(__DIR__, 2) . '/servers.inc';

function told(string $what, string $dsn): void
{
    try {
        (new TokenBucket($dsn, 'x', 1, 1000))->consume();
        echo "$what: let in\n";
    } catch (TokenBucket\StorageException $e) {
        echo $what, ': ', preg_match('/hunter2|s3cret/', $e->getMessage()) ? 'LEAK ' : '',
            preg_replace(['/:\d{4,5}/', '~/\S*/token_bucket-servers?\.\w+~'], [':PORT', '/SERVERS'], $e->getMessage()), "\n";
    }
}

$certificates = getenv('TB_SERVERS') ?: give_up('run scripts/servers.sh');
$server = new Server('mysqld', ["--ssl-ca=$certificates/ca.pem", "--ssl-cert=$certificates/server.pem", "--ssl-key=$certificates/server.key"]);
prepared($server->dsn());
$encrypted = "ca=$certificates/ca.pem";
$certified = "$encrypted&cert=$certificates/client.pem&key=$certificates/client.key";
$socket = fn (string $user): string => "mysql+unix://$user@$server->folder/socket?db=limits";

echo "by a proof, once the server knows it\n";
$server->sql("CREATE USER fresh@'%' IDENTIFIED BY 's3cret'; GRANT ALL ON limits.* TO fresh@'%'");
told('TCP, before', $server->dsn('table=z', 'fresh:s3cret')); // breakers are apart by table
told('TLS', $server->dsn($encrypted, 'fresh:s3cret'));
told('TCP, after', $server->dsn('', 'fresh:s3cret'));
$server->sql('FLUSH PRIVILEGES'); // the server forgets the proofs
told('TCP, forgotten', $server->dsn('table=y', 'fresh:s3cret'));
told('socket', $socket('fresh:s3cret'));
told('TCP, after', $server->dsn('timeout_ms=4999', 'fresh:s3cret'));

echo "who is not let in\n";
told('wrong password over TCP', $server->dsn('table=a', 'fresh:hunter2'));
told('wrong password over TLS', $server->dsn("table=b&$encrypted", 'fresh:hunter2'));
told('wrong password over the socket', $socket('fresh:hunter2'));
told('no password', $server->dsn('table=c', 'fresh'));
told('unknown user over TLS', $server->dsn("table=d&$encrypted", 'nobody:hunter2'));
told('unknown database', "mysql://fresh:s3cret@127.0.0.1:$server->port/secrets");

echo "every byte of a password\n";
foreach (['p@ss:w/rd?&#%+ \'"\\`;', "tab\tand\nline", 'pässwörd 日本 💥', str_repeat('long', 50), '0', ''] as $i => $password) {
    $server->sql("CREATE USER user$i@'%' IDENTIFIED BY '" . addslashes($password) . "'; GRANT ALL ON limits.* TO user$i@'%'");
    $user = "user$i:" . rawurlencode($password);
    foreach (['TLS' => $server->dsn($encrypted, $user), 'socket' => $socket($user), 'TCP' => $server->dsn('', $user), 'TLS, a letter more' => $server->dsn($encrypted, $user . 'x')] as $way => $dsn) {
        told("$i, $way", $dsn);
    }
}

echo "encryption\n";
$server->add_user('encrypted', requires: 'REQUIRE SSL');
$server->add_user('certified', requires: 'REQUIRE X509');
told('TLS', $server->dsn($encrypted, 'encrypted:s3cret'));
told('TLS required, none', $server->dsn('table=e', 'encrypted:s3cret'));
told('certificate', $server->dsn($certified, 'certified:s3cret'));
told('certificate required, none', $server->dsn("table=f&$encrypted", 'certified:s3cret'));
told('another authority', $server->dsn("table=g&ca=$certificates/other-ca.pem", 'encrypted:s3cret'));
$plain = new Server('mysqld', ['--tls-version=']);
told('a server without TLS', $plain->dsn($encrypted));

echo "sha256_password\n";
$server->sql("CREATE USER older@'%' IDENTIFIED WITH sha256_password BY 's3cret'; GRANT ALL ON limits.* TO older@'%'");
told('TLS', $server->dsn($encrypted, 'older:s3cret'));
told('socket', $socket('older:s3cret'));
told('TCP', $server->dsn('table=h', 'older:s3cret'));
?>
--EXPECT--
by a proof, once the server knows it
TCP, before: MySQL at 127.0.0.1:PORT: it wants the password itself, which is sent over TLS or a unix socket only: the user or the password is wrong, or "tls=1" or "ca=" must be added to the storage DSN
TLS: let in
TCP, after: let in
TCP, forgotten: MySQL at 127.0.0.1:PORT: it wants the password itself, which is sent over TLS or a unix socket only: the user or the password is wrong, or "tls=1" or "ca=" must be added to the storage DSN
socket: let in
TCP, after: let in
who is not let in
wrong password over TCP: MySQL at 127.0.0.1:PORT: it wants the password itself, which is sent over TLS or a unix socket only: the user or the password is wrong, or "tls=1" or "ca=" must be added to the storage DSN
wrong password over TLS: MySQL at 127.0.0.1:PORT: Access denied for user 'fresh'@'localhost' (using password: YES) (error 1045)
wrong password over the socket: MySQL at /SERVERS/socket: Access denied for user 'fresh'@'localhost' (using password: YES) (error 1045)
no password: MySQL at 127.0.0.1:PORT: Access denied for user 'fresh'@'localhost' (using password: NO) (error 1045)
unknown user over TLS: MySQL at 127.0.0.1:PORT: Access denied for user 'nobody'@'localhost' (using password: YES) (error 1045)
unknown database: MySQL at 127.0.0.1:PORT: Access denied for user 'fresh'@'%' to database 'secrets' (error 1044)
every byte of a password
0, TLS: let in
0, socket: let in
0, TCP: let in
0, TLS, a letter more: MySQL at 127.0.0.1:PORT: Access denied for user 'user0'@'localhost' (using password: YES) (error 1045)
1, TLS: let in
1, socket: let in
1, TCP: let in
1, TLS, a letter more: MySQL at 127.0.0.1:PORT: Access denied for user 'user1'@'localhost' (using password: YES) (error 1045)
2, TLS: let in
2, socket: let in
2, TCP: let in
2, TLS, a letter more: MySQL at 127.0.0.1:PORT: Access denied for user 'user2'@'localhost' (using password: YES) (error 1045)
3, TLS: let in
3, socket: let in
3, TCP: let in
3, TLS, a letter more: MySQL at 127.0.0.1:PORT: Access denied for user 'user3'@'localhost' (using password: YES) (error 1045)
4, TLS: let in
4, socket: let in
4, TCP: let in
4, TLS, a letter more: MySQL at 127.0.0.1:PORT: Access denied for user 'user4'@'localhost' (using password: YES) (error 1045)
5, TLS: let in
5, socket: let in
5, TCP: let in
5, TLS, a letter more: MySQL at 127.0.0.1:PORT: Access denied for user 'user5'@'localhost' (using password: YES) (error 1045)
encryption
TLS: let in
TLS required, none: MySQL at 127.0.0.1:PORT: Access denied for user 'encrypted'@'localhost' (using password: YES) (error 1045)
certificate: let in
certificate required, none: MySQL at 127.0.0.1:PORT: Access denied for user 'certified'@'localhost' (using password: YES) (error 1045)
another authority: MySQL at 127.0.0.1:PORT: cannot connect: TLS: its certificate is not signed by an authority that is trusted here; ca= in the storage DSN names an authority to trust
a server without TLS: MySQL at 127.0.0.1:PORT: it offers no TLS
sha256_password
TLS: let in
socket: MySQL at /SERVERS/socket: the user must log in by "sha256_password"; only mysql_native_password and caching_sha2_password are supported
TCP: MySQL at 127.0.0.1:PORT: it wants the password itself, which is sent over TLS or a unix socket only: the user or the password is wrong, or "tls=1" or "ca=" must be added to the storage DSN
