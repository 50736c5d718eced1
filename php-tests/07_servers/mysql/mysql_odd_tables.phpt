--TEST--
MariaDB and MySQL: a row without a time is a full bucket; unusable rows and tables are refused without opening the breaker, and prepare() leaves them unchanged
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.on_error=closed
token_bucket.timeout_ms=20000
token_bucket.connect_timeout_ms=20000
token_bucket.deny_cache=0
--FILE--
<?php
require dirname(__DIR__, 2) . '/servers.inc';
require dirname(__DIR__, 2) . '/utils.inc';

$server = new Server(SQL_SERVER);
$server->sql('CREATE TABLE nulls (identifier VARCHAR(255) PRIMARY KEY, microtime DOUBLE)');
$dsn = prepared($server->dsn('table=nulls'));
$server->sql("INSERT INTO nulls (identifier) VALUES ('joe')");
$other = new TokenBucket($dsn, 'other', 2, 0.001);
times(2, fn () => $other->check());
echo 'a row without a time: ', times(3, fn () => (new TokenBucket($dsn, 'joe', 2, 0.001))->consume()), "\n";

$server->sql("INSERT INTO nulls (identifier, microtime, kind, due, part, more, seen) VALUES ('bad', 5, 2, 9223372036854775807, 0, 9223372036854775807, 5)");
echo 'a debt without end: ', times(2, fn () => (new TokenBucket($dsn, 'bad', 2, 0.001))->consume()), "\n";
echo $other->attempt()->isDegraded() ? 'an outage' : 'other rows are not concerned', "\n";

$tables = [
    'no key' => 'identifier VARCHAR(255) NOT NULL, microtime DOUBLE NOT NULL',
    'half a key' => 'identifier VARCHAR(255) NOT NULL, microtime DOUBLE NOT NULL, tenant INT NOT NULL, PRIMARY KEY (identifier, tenant)',
    'a key of four letters' => 'identifier VARCHAR(255) NOT NULL, microtime DOUBLE NOT NULL, UNIQUE (identifier(4))',
    'a FLOAT' => 'identifier VARCHAR(255) PRIMARY KEY, microtime FLOAT NOT NULL',
    'an INT' => 'identifier VARCHAR(255) PRIMARY KEY, microtime INT NOT NULL',
    'a text' => 'identifier VARCHAR(255) PRIMARY KEY, microtime VARCHAR(30) NOT NULL',
    'two decimals' => 'identifier VARCHAR(255) PRIMARY KEY, microtime DECIMAL(14,2) NOT NULL',
    'six decimals' => 'identifier VARCHAR(255) PRIMARY KEY, microtime DECIMAL(18,6) NOT NULL',
];
foreach ($tables as $what => $columns) {
    $server->sql("CREATE TABLE odd ($columns)");
    try {
        prepared($server->dsn('table=odd'));
        echo "$what: prepared\n";
    } catch (TokenBucket\StorageException $e) {
        echo "$what: ", preg_replace('/^.*?: /', '', $e->getMessage()), ', ', $server->sql("SELECT COUNT(*) FROM information_schema.columns WHERE table_name = 'odd' AND column_name = 'seen'"), " columns more\n";
    }
    $server->sql('DROP TABLE odd');
}
foreach (['a FLOAT', 'an INT', 'a text', 'two decimals', 'six decimals'] as $what) {
    $server->sql("CREATE TABLE odd ({$tables[$what]})");
    $server->sql("INSERT INTO odd VALUES ('joe', 1), ('jane', 1)");
    $said = warnings(function () use ($server, $what): void {
        $decisions = array_map(fn (string $who) => (new TokenBucket($server->dsn('table=odd&on_error=open'), $who, 2, 0.001))->attempt(), ['joe', 'joe', 'joe', 'jane']);
        echo "$what: ", implode(' ', array_map(fn ($decision) => $decision->isDegraded() ? 'refused' : ($decision->isAccepted() ? 'yes' : 'no'), $decisions)), "\n";
    });
    echo $said ? implode("\n", $said) . "\n" : '';
    $server->sql('DROP TABLE odd');
}
echo $other->attempt()->isDegraded() ? 'an outage' : 'other tables are not concerned', "\n";

// One statement reads rows of several limits, also by the one column of the published class.
$server->sql("CREATE TABLE odd ({$tables['six decimals']})");
$dsn = $server->dsn('table=odd');
$two = new TokenBucket\Compound(new TokenBucket($dsn, 'joe', 2, 0.001), new TokenBucket($dsn, 'jane', 3, 0.001));
echo 'a Compound on six decimals: ', times(3, fn () => $two->consume()), ', ', $two->peek(0)->getRemainingTokens(), " left\n";
$windows = new TokenBucket\Compound(new TokenBucket($dsn, 'joe', 2, 0.001), new TokenBucket\SlidingWindow($dsn, 'sliding', 3, 60));
echo preg_replace('/ in .*/', '', warnings(fn () => $windows->consume())[0]), "\n";
prepared($dsn);
echo 'prepared: ', times(3, fn () => (new TokenBucket\Compound($two, new TokenBucket\SlidingWindow($dsn, 'sliding', 3, 60)))->consume()), ', ', $two->peek(0)->getRemainingTokens(), " left\n";
$two->reset();
echo 'reset: ', times(4, fn () => (new TokenBucket\Compound($two, new TokenBucket\SlidingWindow($dsn, 'sliding', 3, 60)))->consume()), "\n";
?>
--EXPECT--
a row without a time: 110
a debt without end: 00
other rows are not concerned
no key: the column `identifier` of `odd` must be its primary key, and `microtime` a DOUBLE, 0 columns more
half a key: the column `identifier` of `odd` must be its primary key, and `microtime` a DOUBLE, 0 columns more
a key of four letters: the column `identifier` of `odd` must be its primary key, and `microtime` a DOUBLE, 0 columns more
a FLOAT: the column `identifier` of `odd` must be its primary key, and `microtime` a DOUBLE, 0 columns more
an INT: the column `identifier` of `odd` must be its primary key, and `microtime` a DOUBLE, 0 columns more
a text: the column `identifier` of `odd` must be its primary key, and `microtime` a DOUBLE, 0 columns more
two decimals: the column `identifier` of `odd` must be its primary key, and `microtime` a DOUBLE, 0 columns more
six decimals: prepared
a FLOAT: refused refused refused refused
TokenBucket::attempt(): MySQL at 127.0.0.1:PORT: the row cannot be read: `microtime` must be a DOUBLE, and the others as prepare() makes them; every call is accepted
an INT: refused refused refused refused
a text: refused refused refused refused
two decimals: refused refused refused refused
six decimals: yes yes no yes
other tables are not concerned
a Compound on six decimals: 110, 0 left
TokenBucket\Compound::consume(): MySQL at 127.0.0.1:PORT: Unknown column 'seen'
prepared: 000, 0 left
reset: 1100
