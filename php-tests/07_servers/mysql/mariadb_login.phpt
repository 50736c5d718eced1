--TEST--
MariaDB: a refused login is explained without secrets; the password is sent in clear only where others cannot read it
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.on_error=throw
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
copy("$certificates/server.pem", $certificate = tempnam(sys_get_temp_dir(), 'server'));
$server = new Server('mariadbd', ["--ssl-ca=$certificates/ca.pem", "--ssl-cert=$certificate", "--ssl-key=$certificates/server.key"]);
prepared($server->dsn());
told('wrong password', $server->dsn('', 'owner:hunter2'));
told('no password', $server->dsn('table=t', 'owner')); // a breaker knows no password
told('unknown user', $server->dsn('', 'nobody:hunter2'));
told('unknown database', "mysql://owner:s3cret@127.0.0.1:$server->port/secrets");
told('unknown database', "mysql://root@127.0.0.1:$server->port/no%20such");

// Every byte of a password; and none.
$passwords = ['p@ss:w/rd?&#%+ \'"\\`;', "tab\tand\nline", 'pässwörd 日本 💥', str_repeat('long', 50), '%41', '0', ''];
foreach ($passwords as $i => $password) {
    $server->sql("CREATE USER user$i@'%' IDENTIFIED BY '" . addslashes($password) . "'; GRANT ALL ON limits.* TO user$i@'%'");
    told(json_encode(substr($password, 0, 24), JSON_INVALID_UTF8_SUBSTITUTE | JSON_UNESCAPED_UNICODE), $server->dsn('', "user$i:" . rawurlencode($password)));
    told('  and a letter more', $server->dsn('', "user$i:" . rawurlencode($password) . 'x'));
    told('  over the socket', "mysql+unix://user$i:" . rawurlencode($password) . "@$server->folder/socket?db=limits");
}
$server->sql("GRANT ALL ON limits.* TO 'o''brien @home'@'%' IDENTIFIED BY 's3cret'");
told('an odd user', $server->dsn('', rawurlencode("o'brien @home") . ':s3cret'));

// Encryption.
$server->sql("GRANT ALL ON limits.* TO certified@'%' IDENTIFIED BY 's3cret' REQUIRE X509; GRANT ALL ON limits.* TO encrypted@'%' IDENTIFIED BY 's3cret' REQUIRE SSL");
$client = "cert=$certificates/client.pem&key=$certificates/client.key";
told('TLS', $server->dsn("ca=$certificates/ca.pem", 'encrypted:s3cret'));
told('TLS required, none', $server->dsn('', 'encrypted:s3cret'));
told('certificate', $server->dsn("ca=$certificates/ca.pem&$client", 'certified:s3cret'));
told('certificate required, none', $server->dsn("ca=$certificates/ca.pem", 'certified:s3cret'));
told('wrong password over TLS', $server->dsn("ca=$certificates/ca.pem&$client", 'certified:hunter2'));
told('another authority', $server->dsn("ca=$certificates/other-ca.pem", 'encrypted:s3cret'));
told("the system's authorities", $server->dsn('tls=1', 'encrypted:s3cret'));
// Of an authority that is known.
foreach (['other-names' => 'table=t&', 'expired' => 'table=u&', 'server' => ''] as $name => $table) { // of a breaker each
    copy("$certificates/$name.pem", $certificate);
    $server->sql('FLUSH SSL');
    told("certificate $name", $server->dsn("{$table}ca=$certificates/ca.pem", 'encrypted:s3cret'));
}
told('no such file', $server->dsn("ca=$certificates/none.pem", 'encrypted:s3cret'));
$plain = new Server('mariadbd', ['--skip-ssl']); // else 11.4 and later make a certificate themselves
told('a server without TLS', $plain->dsn("ca=$certificates/ca.pem"));
echo $plain->sql("SHOW STATUS LIKE 'Aborted_connects'") === '' ? '?' : '', $plain->sql("SELECT COUNT(*) FROM information_schema.processlist WHERE user = 'owner'"), " session\n";

// Ways of logging in that it does not know, or that would send the password.
$server->sql("INSTALL SONAME 'auth_ed25519'");
$server->sql("CREATE USER curve@'%' IDENTIFIED VIA ed25519 USING PASSWORD('s3cret'); CREATE USER old@'%' IDENTIFIED VIA mysql_old_password USING '7c7b7b7b7b7b7b7b'; CREATE USER socket@'%' IDENTIFIED VIA unix_socket");
told('ed25519', $server->dsn('', 'curve:s3cret'));
told('mysql_old_password', $server->dsn('', 'old:s3cret'));
told('unix_socket over TCP', $server->dsn('', 'socket:s3cret'));
?>
--EXPECTF--
wrong password: MySQL at 127.0.0.1:PORT: Access denied for user 'owner'@'localhost' (using password: YES) (error 1045)
no password: MySQL at 127.0.0.1:PORT: Access denied for user 'owner'@'localhost' (using password: NO) (error 1045)
unknown user: MySQL at 127.0.0.1:PORT: Access denied for user 'nobody'@'localhost' (using password: YES) (error 1045)
unknown database: MySQL at 127.0.0.1:PORT: Access denied for user 'owner'@'%' to database 'secrets' (error 1044)
unknown database: MySQL at 127.0.0.1:PORT: Unknown database 'no such' (error 1049)
"p@ss:w\/rd?&#%+ '\"\\`;": let in
  and a letter more: MySQL at 127.0.0.1:PORT: Access denied for user 'user0'@'localhost' (using password: YES) (error 1045)
  over the socket: let in
"tab\tand\nline": let in
  and a letter more: MySQL at 127.0.0.1:PORT: Access denied for user 'user1'@'localhost' (using password: YES) (error 1045)
  over the socket: let in
"pässwörd 日本 💥": let in
  and a letter more: MySQL at 127.0.0.1:PORT: Access denied for user 'user2'@'localhost' (using password: YES) (error 1045)
  over the socket: let in
"longlonglonglonglonglong": let in
  and a letter more: MySQL at 127.0.0.1:PORT: Access denied for user 'user3'@'localhost' (using password: YES) (error 1045)
  over the socket: let in
"%41": let in
  and a letter more: MySQL at 127.0.0.1:PORT: Access denied for user 'user4'@'localhost' (using password: YES) (error 1045)
  over the socket: let in
"0": let in
  and a letter more: MySQL at 127.0.0.1:PORT: Access denied for user 'user5'@'localhost' (using password: YES) (error 1045)
  over the socket: let in
"": let in
  and a letter more: MySQL at 127.0.0.1:PORT: Access denied for user 'user6'@'localhost' (using password: YES) (error 1045)
  over the socket: let in
an odd user: let in
TLS: let in
TLS required, none: MySQL at 127.0.0.1:PORT: Access denied for user 'encrypted'@'localhost' (using password: YES) (error 1045)
certificate: let in
certificate required, none: MySQL at 127.0.0.1:PORT: Access denied for user 'certified'@'localhost' (using password: YES) (error 1045)
wrong password over TLS: MySQL at 127.0.0.1:PORT: Access denied for user 'certified'@'localhost' (using password: YES) (error 1045)
another authority: MySQL at 127.0.0.1:PORT: cannot connect: TLS: its certificate is not signed by an authority that is trusted here; ca= in the storage DSN names an authority to trust
the system's authorities: MySQL at 127.0.0.1:PORT: cannot connect: TLS: its certificate is not signed by an authority that is trusted here; ca= in the storage DSN names an authority to trust
certificate other-names: MySQL at 127.0.0.1:PORT: cannot connect: TLS: its certificate is not for 127.0.0.1, but for 127.0.0.2, other.invalid?forged; reach the server by a name that it is valid for, or add this one to it
certificate expired: MySQL at 127.0.0.1:PORT: cannot connect: TLS: its certificate expired %d seconds ago; renew it, or set this host's clock right
certificate server: let in
no such file: MySQL at 127.0.0.1:PORT: the TLS file /SERVERS/none.pem cannot be used: No such file or directory
a server without TLS: MySQL at 127.0.0.1:PORT: it offers no TLS
0 session
ed25519: MySQL at 127.0.0.1:PORT: the user must log in by "client_ed25519"; only mysql_native_password and caching_sha2_password are supported
mysql_old_password: MySQL at 127.0.0.1:PORT: Server is running in --secure-auth mode, but 'old'@'localhost' has a password in the old format; please change the password to the new format (error 1275)
unix_socket over TCP: MySQL at 127.0.0.1:PORT: Access denied for user 'socket'@'localhost' (error 1698)
