--TEST--
MariaDB and MySQL: any identifier gives the same statement and has its own row; only the legacy schema ignores case
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.on_error=throw
token_bucket.timeout_ms=20000
token_bucket.connect_timeout_ms=20000
token_bucket.deny_cache=0
--FILE--
<?php
require dirname(__DIR__) . '/servers.inc';

$server = new Server(SQL_SERVER);
$identifiers = [
    'joe', 'Joe', 'JOE', 'joe ', ' joe', 'joe  ', "joe\t", "joe\0", "\0joe", "\0", ' ', 'jo', 'joee',
    "joe'", 'joe"', 'joe`', "joe''", "joe\\", "joe\\'", 'joe\\\\', 'joe\\0', 'joe%', 'joe_', '%', '_', '?', ':name', '{name}', '@n', '@n := 0', 'NULL', '0', '1e9', '0x6a6f65',
    "'; DROP TABLE token_bucket; --", "x' OR '1'='1", "') ON DUPLICATE KEY UPDATE due = 0 -- ", '/*!50000 x */', "joe'/*", '*/', '--', '#',
    'jöe', "jo\u{308}e", 'JÖE', 'ﬀ', 'ff', 'ß', 'ss', 'Iı', '日本', '💥', "\u{feff}joe", "jo\u{200b}e", "j\xf6e", "\xff\xfe", "\xc0\xaf", "joe\x80",
    str_repeat('x', 200), str_repeat('x', 201), str_repeat('x', 300), str_repeat('x', 301), str_repeat('ö', 150), str_repeat("'", 300),
    'h:joe', 'joe#w', 'joe#W', 'joe#s', '#h' . str_repeat('0', 32), "line\nbreak", "line\r\nbreak", '192.0.2.1', '2001:db8::1', '[2001:db8::1]', 'a@b.example', 'https://x.example/?a=b&c=d#e',
];
count($identifiers) === count(array_unique($identifiers)) || exit("twice the same\n");
$server->sql('CREATE TABLE classic (identifier varchar(255) NOT NULL PRIMARY KEY, microtime double NOT NULL) ENGINE=InnoDB DEFAULT CHARSET=utf8');
foreach (['token_bucket', 'classic', 'classic with all columns'] as $what) {
    $table = strtok($what, ' ');
    $dsn = $server->dsn("table=$table");
    if ($what !== 'classic') {
        prepared($dsn);
        $server->sql("DELETE FROM $table");
        $dsn .= '&prefix='; // a session that has not seen the table before
    }
    // Buckets of one: whose is taken already shares another's row.
    $refused = array_filter($identifiers, fn (string $identifier): bool => !(new TokenBucket($dsn, $identifier, 1, 0.00001))->consume());
    echo $what, ': ', count($identifiers) - count($refused) === (int) $server->sql("SELECT COUNT(*) FROM $table") ? 'a row each' : 'other rows', ', but for ', json_encode(array_values($refused)), "\n";
    // Found again.
    foreach ($identifiers as $identifier) {
        (new TokenBucket($dsn, $identifier, 1, 0.00001))->peek()->isAccepted() && print(json_encode($identifier) . " is not found again\n");
    }
    if ($what !== 'classic') {
        $shared = array_filter($identifiers, fn (string $identifier): bool => !(new TokenBucket\FixedWindow($dsn, $identifier, 1, 1e6))->consume());
        echo 'windows, but for ', json_encode(array_values($shared)), "\n";
        $shared = array_filter($identifiers, fn (string $identifier): bool => !(new TokenBucket\SlidingWindow($dsn, $identifier, 1, 1e6))->consume());
        echo 'sliding windows, but for ', json_encode(array_values($shared)), "\n";
        $shared = array_filter($identifiers, fn (string $identifier): bool => (new TokenBucket($dsn, 'login', 1, 0.00001))->check($identifier));
        echo 'check(), but for ', json_encode(array_values($shared)), "\n";
    }
    echo $server->sql("SELECT GROUP_CONCAT(identifier ORDER BY BINARY identifier SEPARATOR ' ') FROM $table WHERE identifier LIKE 'j%' AND identifier NOT LIKE '%#_'"), "\n";
}
// No byte of a client's making but what can be printed.
echo $server->sql("SELECT COUNT(*) FROM token_bucket WHERE identifier NOT REGEXP '^[ -~]{0,254}[!-~]$'"), "\n";
echo $server->sql('SHOW TABLES'), "\n";
?>
--EXPECT--
token_bucket: a row each, but for []
windows, but for []
sliding windows, but for []
check(), but for []
jo joe joe" joe% joe' joe'' joe'/* joe\ joe\' joe\0 joe\\ joe_ joe` joee
classic: a row each, but for ["Joe","JOE"]
jo joe joe" joe% joe' joe'' joe'/* joe\ joe\' joe\0 joe\\ joe_ joe` joee
classic with all columns: a row each, but for ["Joe","JOE"]
windows, but for ["Joe","JOE"]
sliding windows, but for ["Joe","JOE"]
check(), but for ["Joe","JOE"]
jo joe joe" joe% joe' joe'' joe'/* joe\ joe\' joe\0 joe\\ joe_ joe` joee
0
classic
token_bucket
