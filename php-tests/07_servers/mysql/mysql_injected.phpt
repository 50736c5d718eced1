--TEST--
MariaDB over TLS: clear text after the greeting is not taken for the server's reply
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

function packet(int $sequence, string $payload): string
{
    return substr(pack('V', strlen($payload)), 0, 3) . chr($sequence) . $payload;
}

/** Passes on what both say, and has something to add to the greeting. */
function middle(Server $server, string $added): int
{
    return proxy($server->port, function (string $bytes, bool $is_answer) use (&$added): string {
        $bytes .= $is_answer ? $added : '';
        $added = $is_answer ? '' : $added;
        return $bytes;
    });
}

const OK = "\0\0\0\2\0\0\0";
$certificates = getenv('TB_SERVERS') ?: give_up('run scripts/servers.sh');
$server = new Server(SQL_SERVER, ["--ssl-ca=$certificates/ca.pem", "--ssl-cert=$certificates/server.pem", "--ssl-key=$certificates/server.key"]);
prepared($server->dsn());
$column = "\3def\0\0\0\1n\1n\x0c\x3f\0\x14\0\0\0\x08\x80\0\0\0\0";
$kinds = [
    'nothing' => '',
    'an error' => packet(3, "\xff" . pack('v', 1045) . '#28000said by the man in the middle'),
    // The log-in, the session, a statement prepared, and a decision.
    'a decision' => packet(3, OK) . packet(1, OK) . packet(1, "\0" . pack('Vvvxv', 1, 0, 0, 0))
        . packet(1, "\7") . implode(array_map(fn (int $n): string => packet($n, $column), range(2, 8)))
        . packet(9, "\0\0\0" . pack('P7', 1_700_000_000_000_000_000, 0, 0, 0, 0, 0, 0)) . packet(10, "\xfe\0\0\2\0\0\0"),
];
foreach ($kinds as $what => $added) {
    $dsn = "mysql://owner:s3cret@127.0.0.1:" . middle($server, $added) . "/limits?ca=$certificates/ca.pem";
    try {
        $told = (new TokenBucket($dsn, $what, 1, 0.001))->consume() ? 'yes' : 'no';
    } catch (TokenBucket\StorageException $e) {
        $told = preg_replace('/:\d+:/', ':PORT:', $e->getMessage());
    }
    echo "$what: $told, ", $server->sql('SELECT COUNT(*) FROM token_bucket'), " row\n";
}
?>
--EXPECT--
nothing: yes, 1 row
an error: MySQL at 127.0.0.1:PORT: its answer is not the protocol of MariaDB or MySQL, 1 row
a decision: MySQL at 127.0.0.1:PORT: its answer is not the protocol of MariaDB or MySQL, 1 row
