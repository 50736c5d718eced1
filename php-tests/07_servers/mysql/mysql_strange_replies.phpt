--TEST--
MariaDB and MySQL: after half a greeting, garbage, errors or endless streams the policy answers within the budget, and the password is not sent
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.on_error=throw
--FILE--
<?php
require dirname(__DIR__, 2) . '/servers.inc';
require dirname(__DIR__, 2) . '/utils.inc';
require dirname(__DIR__, 2) . '/processes.inc';
// So many servers that fail leave other tests no breaker.
run_apart(__FILE__);

const OK = "\0\0\0\2\0\0\0";
const EOF = "\xfe\0\0\2\0";

function packet(int $sequence, string $payload): string
{
    return substr(pack('V', strlen($payload)), 0, 3) . chr($sequence & 255) . $payload;
}

function greeting(string $plugin = 'mysql_native_password', int $capabilities = 0xBFF7FF, string $version = '5.5.5-10.11.6-MariaDB'): string
{
    return packet(0, "\x0a$version\0" . pack('V', 7) . "01234567\0" . pack('v', $capabilities & 0xffff) . "\x2d" . pack('v', 2)
        . pack('v', $capabilities >> 16) . chr(21) . str_repeat("\0", 10) . "890123456789\0$plugin\0");
}

/** Sends each piece when something has come; what came is noted. */
function talk($connection, string $log, string ...$pieces): void
{
    stream_set_blocking($connection, true);
    foreach ($pieces as $i => $piece) {
        if ($i > 0) {
            stream_set_timeout($connection, 1);
            file_put_contents($log, fread($connection, 65536), FILE_APPEND);
        }
        @fwrite($connection, $piece);
    }
    stream_set_timeout($connection, 0, 200_000);
    file_put_contents($log, fread($connection, 65536), FILE_APPEND);
}

/** What goes on as long as somebody listens. */
function endlessly($connection, callable $piece): void
{
    stream_set_blocking($connection, true);
    for ($i = 0, $end = hrtime(true) + 2e9; hrtime(true) < $end && @fwrite($connection, $piece($i)); $i++);
}

$log = temporary_file();
$column = fn (int $type): string => "\3def\0\0\0\1n\1n\x0c\x3f\0\x14\0\0\0" . chr($type) . "\x80\0\0\0\0";
$logged_in = [greeting(), packet(2, OK)];
$prepared = packet(1, "\0" . pack('Vvvxv', 1, 10, 0, 0)) . implode(array_map(fn (int $n): string => packet($n, $column(8)), range(2, 11))) . packet(12, EOF);
// Of which identifier it is, the clock, whether there is a row, and its columns: microtime, seen, kind, due, part, more, hits.
$columns = fn (int ...$types): string => packet(1, "\x0a") . implode(array_map(fn (int $n, int $type): string => packet($n, $column($type)), range(2, 11), $types)) . packet(12, EOF);
$answer = fn (int $type, string $row): string => $columns(...array_fill(0, 10, $type)) . packet(13, $row) . packet(14, EOF);
$row_of = fn (int $number, int $clock, int $found, float $microtime, float $seen, int ...$numbers): string => $columns(8, 8, 8, 5, 5, 8, 8, 8, 8, 252) . packet(13, "\0\0\x08" . pack('P3e2P4', $number, $clock, $found, $microtime, $seen, ...$numbers)) . packet(14, EOF);
$row = fn (int $clock, float $microtime, float $seen, int ...$numbers): string => $row_of(0, $clock, 1, $microtime, $seen, ...$numbers);
$no_row = fn (int $clock): string => $row_of(0, $clock, 0, 0, 0, 0, 0, 0, 0);
$writes = implode(array_map(fn (int $number): string => packet(1, "\0" . pack('Vvvxv', $number, 0, 0, 0)), [2, 3])); // statements without parameters that are described
$done = fn (int $rows): string => packet(1, "\0" . chr($rows) . "\0\2\0\0\0");
// After the login all is asked at once: the settings, the statement that reads, what it reads, and the statements that write.
$read = fn (string $answer): array => [...$logged_in, packet(1, OK) . $prepared . $answer . $writes];
const NOW = 1_700_000_000_000_000_000;
const A_SECOND_LATER = 1_700_000_001_000_000_000;
$kinds = [
    'nothing' => [],
    'hangs up' => null,
    'half a greeting' => [substr(greeting(), 0, 30)],
    'a greeting cut short' => [packet(0, substr(greeting(), 4, 20))],
    'an empty greeting' => [packet(0, '')],
    'another protocol' => ["SSH-2.0-OpenSSH_9.2\r\n\r\n"],
    'zeros' => [str_repeat("\0", 100)],
    'protocol 9' => [packet(0, "\x09" . '3.23.58' . "\0" . pack('V', 7) . "01234567\0")],
    'an old server' => [greeting(capabilities: 0x1)],
    'a wrong sequence' => [substr_replace(greeting(), "\5", 3, 1)],
    'an error at once' => [packet(0, "\xff" . pack('v', 1040) . 'Too many connections')],
    'an error that is none' => [packet(0, "\xff\1")],
    'an error by numbers' => [greeting(), packet(2, "\xff" . pack('v', 1045) . "#28000Denied")],
    'a huge packet' => ["\xff\xff\xff\0" . str_repeat('x', 1000)],
    'no answer to the login' => [greeting()],
    'hands over to nobody' => [greeting(), packet(2, "\xfe")],
    'wants a file' => $read(packet(1, "\xfb/etc/passwd")),
    'an error to the first query' => [...$logged_in, packet(1, "\xff" . pack('v', 1193) . '#HY000Unknown system variable') . $prepared . $no_row(NOW) . $writes],
    'a statement of 65,535 parameters' => [...$logged_in, packet(1, OK) . packet(1, "\0" . pack('Vvvxv', 1, 65535, 65535, 0))],
    'an empty bucket' => $read($row(NOW, 1_700_000_000, 1_700_000_000, 0, A_SECOND_LATER, 0, 0)),
    'an empty bucket, by classic code' => $read($row(NOW, 1_700_000_000, 1, 0, 0, 0, 0)),
    'no row, and it takes one' => [...$read($no_row(NOW)), $done(1)],
    'no row, and no answer to the new one' => $read($no_row(NOW)),
    'no row, and never takes one' => [...$read($no_row(NOW)), ...array_merge(...array_fill(0, 99, [$done(0), $no_row(NOW)]))],
    'a row cut short' => $read($answer(8, "\0\0\1")),
    'a row of NULL' => $read($answer(8, "\0\xfc\x0f")),
    'a row of decimals that are none' => $read($answer(246, "\0\0\0" . str_repeat("\1x", 10))),
    'a row of texts' => $read($answer(253, "\0\0\0" . str_repeat("\1x", 10))),
    'a row of dates' => $read($answer(12, "\0\0\0" . str_repeat("\x0b" . str_repeat("\xff", 11), 8))),
    'a row of type 17' => $read($answer(17, "\0\0\0" . str_repeat("\1x", 10))),
    'a row of type 19' => $read($answer(19, "\0\0\0" . str_repeat("\1x", 10))),
    'a row of type 20' => $read($answer(20, "\0\0\0" . str_repeat("\1x", 10))),
    'a row of type 243' => $read($answer(243, "\0\0\0" . str_repeat("\1x", 10))),
    'a row of type 255' => $read($answer(255, "\0\0\0" . str_repeat("\1x", 10))),
    'a kind that is none' => $read($row(NOW, 1_700_000_000, 1_700_000_000, 99, 0, 0, 0)),
    'a bucket from the far future' => [...$read($row(NOW, 5_000_000_000, 5_000_000_000, 0, PHP_INT_MAX, 0, 0)), $done(1)],
    'a debt without end' => [...$read($row(NOW, 5_000_000_000, 5_000_000_000, 2, PHP_INT_MAX, PHP_INT_MAX, PHP_INT_MAX)), $done(1)],
    'a clock out of bounds' => $read($row(-1, 0, 0, 0, 0, 0, 0)),
    'no row, and a clock out of bounds' => $read($no_row(-1)),
    'no row at all' => $read($columns(...array_fill(0, 10, 8)) . packet(13, EOF)),
    'another number of the statement' => [...$logged_in, packet(1, OK) . str_replace("\0" . pack('V', 1), "\0" . pack('V', 77), $prepared) . packet(1, "\xff" . pack('v', 1243) . '#HY000Unknown prepared statement handler') . $writes, $row(NOW, 1_700_000_000, 1_700_000_000, 0, A_SECOND_LATER, 0, 0)],
    'a row without columns' => $read(packet(1, "\2") . packet(2, $column(8)) . packet(3, $column(8)) . packet(4, EOF) . packet(5, "\0\0" . pack('P2', 0, NOW)) . packet(6, EOF)),
    'a row of another identifier' => $read($row_of(1, NOW, 1, 1_700_000_000, 1_700_000_000, 0, A_SECOND_LATER, 0, 0)),
    '2^63 columns' => $read(packet(1, "\xfe" . pack('P', PHP_INT_MAX))),
    // Who wants the password.
    'mysql_clear_password' => [greeting(), packet(2, "\xfemysql_clear_password\0"), packet(4, OK)],
    'mysql_clear_password at once' => [greeting('mysql_clear_password'), packet(2, "\xfemysql_clear_password\0"), packet(4, OK)],
    'dialog' => [greeting(), packet(2, "\xfedialog\0\4Password: "), packet(4, OK)],
    'mysql_old_password' => [greeting(), packet(2, "\xfemysql_old_password\0" . "01234567\0"), packet(4, OK)],
    'sha256_password' => [greeting(), packet(2, "\xfesha256_password\0" . "01234567890123456789\0"), packet(4, OK)],
    'caching_sha2_password, all of it' => [greeting('caching_sha2_password'), packet(2, "\1\4"), packet(4, OK)],
    'caching_sha2_password, its own key' => [greeting('caching_sha2_password'), packet(2, "\1\2"), packet(4, OK)],
    'caching_sha2_password, twice' => [greeting('caching_sha2_password'), packet(2, "\xfecaching_sha2_password\0" . "98765432109876543210\0"), packet(4, "\1\4"), packet(6, OK)],
    'another and another' => [greeting(), ...array_map(fn (int $n): string => packet($n, "\xfemysql_native_password\0" . "01234567890123456789\0"), range(2, 40, 2))],
];
foreach ($kinds as $what => $pieces) {
    $serve = fn ($c) => $pieces === null ? fclose($c) : talk($c, $log, ...$pieces);
    // 64 tries need some time.
    told($what, $serve, str_contains($what, 'never takes') ? 20_000 : 400);
}
$streams = [
    'greetings without end' => fn ($c) => endlessly($c, fn (int $i): string => packet($i, substr(greeting(), 4))),
    'bytes without end' => fn ($c) => endlessly($c, fn (): string => str_repeat("\xaa", 65536)),
    'columns without end' => function ($c) use ($log, $logged_in, $prepared, $column): void {
        talk($c, $log, ...$logged_in, ...[packet(1, OK) . $prepared . packet(1, "\xfe" . pack('P', PHP_INT_MAX))]);
        endlessly($c, fn (int $i): string => packet($i + 2, $column(8)));
    },
    'a byte at a time' => function ($c): void {
        foreach (str_split(greeting()) as $byte) {
            @fwrite($c, $byte);
            usleep(25_000);
        }
    },
];
foreach ($streams as $what => $serve) {
    told($what, $serve);
}

function told(string $what, callable $serve, float $most = 400): void
{
    // What leaves a call without an answer. To all else it answers at once, for which a busy machine has time.
    $is_silent = preg_match('/^nothing|^half|no answer to|65,535|a byte at a time/', $what);
    $parameters = $is_silent ? '' : '?timeout_ms=20000&connect_timeout_ms=20000';
    [$took, $told] = within_three_tries($most, function () use ($serve, $parameters): array {
        $bucket = new TokenBucket('mysql://joe:s3cretpassword@127.0.0.1:' . strange_server($serve) . "/limits$parameters", 'x', 1, 1);
        return [milliseconds(function () use ($bucket, &$told): void {
            try {
                $told = $bucket->consume() ? 'yes' : 'no';
            } catch (TokenBucket\StorageException $e) {
                $told = preg_replace('/^\w+ at 127.0.0.1:\d+: /', '', $e->getMessage());
            }
        }), $told];
    });
    echo "$what: $told", $took <= $most ? '' : ", after $took ms", "\n";
}

$received = file_get_contents($log);
echo str_contains($received, 'joe') && str_contains($received, 'SET ') ? 'servers heard us' : 'nothing was heard', str_contains($received, 's3cret') ? ', and the password' : '', "\n";

// A reply that comes too late must not be the next call's.
$log = temporary_file();
$late = function ($c) use ($log, $read, $row): void {
    stream_set_blocking($c, true);
    [$greeting, $ok, $answers] = $read($row(NOW, 1_700_000_000, 1_700_000_000, 0, A_SECOND_LATER, 0, 0));
    foreach ([$greeting, $ok] as $piece) {
        fwrite($c, $piece);
        fread($c, 65536);
    }
    file_put_contents($log, '.', FILE_APPEND);
    usleep(80_000);
    @fwrite($c, $answers);
};
// A process that stands still meanwhile finds the answer to its own call.
[$others] = within_three_tries(0, function () use ($late, $log): array {
    file_put_contents($log, '');
    $bucket = new TokenBucket('mysql://joe:s3cret@127.0.0.1:' . strange_server($late) . '/limits?timeout_ms=30&connect_timeout_ms=500&on_error=closed', 'x', 1, 1);
    $others = 0;
    // Each time that the breaker closes it is asked once more.
    wait_until(function () use ($bucket, $log, &$others): bool {
        $others += (int) !@$bucket->attempt()->isDegraded();
        return strlen(file_get_contents($log)) >= 3;
    });
    return [$others, ''];
});
echo "asked 3 times, $others answers of another call\n";
?>
--EXPECT--
nothing: no answer in time
hangs up: the server closed the connection
half a greeting: no answer in time
a greeting cut short: its answer is not the protocol of MariaDB or MySQL
an empty greeting: its answer is not the protocol of MariaDB or MySQL
another protocol: its answer is not the protocol of MariaDB or MySQL
zeros: its answer is not the protocol of MariaDB or MySQL
protocol 9: its answer is not the protocol of MariaDB or MySQL
an old server: it is older than MariaDB 10.5 or MySQL 8
a wrong sequence: its answer is not the protocol of MariaDB or MySQL
an error at once: Too many connections
an error that is none: its answer is not the protocol of MariaDB or MySQL
an error by numbers: Denied (error 1045)
a huge packet: its answer is not the protocol of MariaDB or MySQL
no answer to the login: no answer in time
hands over to nobody: its answer is not the protocol of MariaDB or MySQL
wants a file: its answer is not the protocol of MariaDB or MySQL
an error to the first query: Unknown system variable (error 1193)
a statement of 65,535 parameters: no answer in time
an empty bucket: no
an empty bucket, by classic code: no
no row, and it takes one: yes
no row, and no answer to the new one: reads are answered, but the write waits for a lock (a backup, ALTER TABLE, another session) or the disk
no row, and never takes one: the bucket is too busy
a row cut short: its answer is not the protocol of MariaDB or MySQL
a row of NULL: the row cannot be read: `microtime` must be a DOUBLE, and the others as prepare() makes them
a row of decimals that are none: the row cannot be read: `microtime` must be a DOUBLE, and the others as prepare() makes them
a row of texts: the row cannot be read: `microtime` must be a DOUBLE, and the others as prepare() makes them
a row of dates: the row cannot be read: `microtime` must be a DOUBLE, and the others as prepare() makes them
a row of type 17: the row cannot be read: `microtime` must be a DOUBLE, and the others as prepare() makes them
a row of type 19: the row cannot be read: `microtime` must be a DOUBLE, and the others as prepare() makes them
a row of type 20: the row cannot be read: `microtime` must be a DOUBLE, and the others as prepare() makes them
a row of type 243: the row cannot be read: `microtime` must be a DOUBLE, and the others as prepare() makes them
a row of type 255: the row cannot be read: `microtime` must be a DOUBLE, and the others as prepare() makes them
a kind that is none: no
a bucket from the far future: no
a debt without end: no
a clock out of bounds: the row cannot be read: `microtime` must be a DOUBLE, and the others as prepare() makes them
no row, and a clock out of bounds: the row cannot be read: `microtime` must be a DOUBLE, and the others as prepare() makes them
no row at all: the row cannot be read: `microtime` must be a DOUBLE, and the others as prepare() makes them
another number of the statement: no
a row without columns: the row cannot be read: `microtime` must be a DOUBLE, and the others as prepare() makes them
a row of another identifier: the row cannot be read: `microtime` must be a DOUBLE, and the others as prepare() makes them
2^63 columns: its answer is not the protocol of MariaDB or MySQL
mysql_clear_password: the user must log in by "mysql_clear_password"; only mysql_native_password and caching_sha2_password are supported
mysql_clear_password at once: the user must log in by "mysql_clear_password"; only mysql_native_password and caching_sha2_password are supported
dialog: the user must log in by "dialog"; only mysql_native_password and caching_sha2_password are supported
mysql_old_password: the user must log in by "mysql_old_password"; only mysql_native_password and caching_sha2_password are supported
sha256_password: it wants the password itself, which is sent over TLS or a unix socket only: the user or the password is wrong, or "tls=1" or "ca=" must be added to the storage DSN
caching_sha2_password, all of it: it wants the password itself, which is sent over TLS or a unix socket only: the user or the password is wrong, or "tls=1" or "ca=" must be added to the storage DSN
caching_sha2_password, its own key: its answer is not the protocol of MariaDB or MySQL
caching_sha2_password, twice: it wants the password itself, which is sent over TLS or a unix socket only: the user or the password is wrong, or "tls=1" or "ca=" must be added to the storage DSN
another and another: its answer is not the protocol of MariaDB or MySQL
greetings without end: its answer is not the protocol of MariaDB or MySQL
bytes without end: its answer is not the protocol of MariaDB or MySQL
columns without end: its answer is not the protocol of MariaDB or MySQL
a byte at a time: no answer in time
servers heard us
asked 3 times, 0 answers of another call
