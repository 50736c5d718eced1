<?php
/*
 * The cases on servers, and the cases beside them, on the same server and kind of connection.
 */

/** A bucket on a server, after its first decision. */
function bucket(string $dsn, int $capacity = CAPACITY, float $rate = RATE): TokenBucket
{
    $bucket = new TokenBucket(patient($dsn), 'bench', $capacity, $rate);
    $bucket->consume(min($capacity, 1_000_000));
    return $bucket;
}

function consume(TokenBucket $bucket): Closure
{
    return function ($n) use ($bucket) { for ($i = 0; $i < $n; $i++) { $bucket->consume(); } };
}

/** @return TokenBucket[] three buckets on a server, after their first decisions */
function three_buckets(string $dsn): array
{
    $buckets = array_map(fn ($name) => new TokenBucket(patient($dsn), $name, CAPACITY, RATE), ['one', 'two', 'three']);
    array_walk($buckets, fn ($bucket) => $bucket->consume());
    return $buckets;
}

function ping(Redis $redis): Closure
{
    return function ($n) use ($redis) { for ($i = 0; $i < $n; $i++) { $redis->ping(); } };
}

/** The cheapest round trip of php-memcached. */
function get(string $dsn): Closure
{
    $memcached = php_memcached($dsn);
    $memcached->set('counter', 0);
    return function ($n) use ($memcached) { for ($i = 0; $i < $n; $i++) { $memcached->get('counter'); } };
}

/** Buckets that no recent call used, so that no state was handed off. */
function consume_many(string $dsn): Closure
{
    $buckets = array_map(fn (int $i): TokenBucket => new TokenBucket(patient($dsn), "many $i", CAPACITY, RATE), range(1, MANY));
    return function ($n) use ($buckets) { for ($i = 0; $i < $n; $i++) { $buckets[$i % MANY]->consume(); } };
}

/** A denied call without the deny cache, so that it asks the server. */
function denied_attempt(string $dsn): Closure
{
    ini_set('token_bucket.deny_cache', '0');
    $bucket = bucket($dsn . '&prefix=denied:', 1, 0.001);
    ini_set('token_bucket.deny_cache', '1');
    return function ($n) use ($bucket) { for ($i = 0; $i < $n; $i++) { $bucket->attempt(); } };
}

/** The cheapest read of a bucket's row in PHP: by its primary key, with a statement prepared once. */
function pdo_select(PDO $db): Closure
{
    $query = $db->prepare('SELECT * FROM over_socket WHERE identifier = ?');
    return function ($n) use ($query) { for ($i = 0; $i < $n; $i++) { $query->execute(['denied:bench']); $query->fetch(PDO::FETCH_NUM); $query->closeCursor(); } };
}

const MANY = 1_000;

/** MariaDB's and MySQL's own counters over a thousand calls. */
function mysql_statements(array $cases): array
{
    $told = [];
    foreach (['mariadb', 'mysql'] as $engine) {
        $db = pdo($engine);
        $cases["pdo_$engine"] = (limiters()["pdo_$engine"]->open)('calls', CAPACITY, RATE);
        $count = fn () => $db->query("SHOW GLOBAL STATUS WHERE Variable_name IN ('Com_begin', 'Com_commit', 'Com_select', 'Com_insert', 'Com_update')")
            ->fetchAll(PDO::FETCH_KEY_PAIR);
        foreach ([$engine => '`consume()` on one bucket', "{$engine}_many" => '`consume()` on many', "{$engine}_denied" => 'a denied `attempt()`', "pdo_$engine" => 'the PDO transaction'] as $case => $name) {
            $cases[$case](1_000);
            $before = $count();
            $cases[$case](1_000);
            foreach ($count() as $command => $value) {
                if ($value > $before[$command]) {
                    $told[SQL_NAMES[$engine] . ", $name"][substr($command, 4)] = $value - $before[$command];
                }
            }
        }
    }
    return $told;
}

const SQL_NAMES = ['mariadb' => 'MariaDB', 'mysql' => 'MySQL'];

function server_cases(): array
{
    $denied = bucket(getenv('TB_REDIS_UNIX') . '&prefix=denied:', 1, 0.001);
    $cases = ['loop' => function ($n) { for ($i = 0; $i < $n; $i++) { } }];
    foreach (['unix' => getenv('TB_REDIS_UNIX'), 'tcp' => getenv('TB_REDIS')] as $kind => $dsn) {
        $cases += [
            "ping_$kind" => ping(phpredis($dsn)),
            "redis_$kind" => consume(bucket($dsn)),
            "redis_lease_$kind" => consume(bucket($dsn . (str_contains($dsn, '?') ? '&' : '?') . 'lease=100&prefix=lease:')),
            "redis_three_$kind" => three_calls(three_buckets($dsn)),
            "redis_compound_$kind" => consume_compound(three_buckets($dsn)),
            "redis_permit_$kind" => acquire_and_release(patient($dsn)),
        ];
    }
    $cases['denied'] = consume($denied);
    foreach (['unix', 'tcp'] as $kind) {
        $dsn = memcached_dsn($kind);
        $cases += [
            "get_$kind" => get($dsn),
            "memcached_$kind" => consume(bucket($dsn)),
            "memcached_compound_$kind" => consume_compound(three_buckets($dsn)),
        ];
    }
    return $cases;
}

function sql_cases(): array
{
    $cases = ['loop' => function ($n) { for ($i = 0; $i < $n; $i++) { } }];
    foreach (['mariadb', 'mysql'] as $engine) {
        $cases += [
            $engine => consume(bucket(sql_dsn($engine))),
            "{$engine}_compound" => consume_compound(three_buckets(sql_dsn($engine))),
            "{$engine}_many" => consume_many(sql_dsn($engine)),
            "pdo_{$engine}_many" => pdo_transaction(pdo($engine), 'many', CAPACITY, RATE, MANY),
            "{$engine}_denied" => denied_attempt(sql_dsn($engine)),
            "pdo_{$engine}_select" => pdo_select(pdo($engine)),
        ];
    }
    return $cases;
}

/** The rows of the table: a text, a case, and the case beside it. */
function server_rows(): array
{
    return [
        ['Redis, unix socket: `consume()`', 'redis_unix', 'ping_unix'],
        ['`consume()` with `lease=100`', 'redis_lease_unix', 'redis_unix'],
        ['`Compound` of three', 'redis_compound_unix', 'redis_unix'],
        ['three `consume()`, one after the other', 'redis_three_unix', 'redis_unix'],
        ['`ConcurrencyLimit` of five, `acquire()->release()`: two round trips', 'redis_permit_unix', 'redis_unix'],
        // Without a ratio: a round trip takes another time in each run, and this asks no server.
        ['a denied call, with the deny cache', 'denied', null],
        ['phpredis `ping()`', 'ping_unix', null],
        ['Redis, TCP: `consume()`', 'redis_tcp', 'ping_tcp'],
        ['`consume()` with `lease=100`', 'redis_lease_tcp', 'redis_tcp'],
        ['`Compound` of three', 'redis_compound_tcp', 'redis_tcp'],
        ['three `consume()`, one after the other', 'redis_three_tcp', 'redis_tcp'],
        ['`ConcurrencyLimit` of five, `acquire()->release()`: two round trips', 'redis_permit_tcp', 'redis_tcp'],
        ['phpredis `ping()`', 'ping_tcp', null],
        ['memcached, unix socket: `consume()`', 'memcached_unix', 'get_unix'],
        ['`Compound` of three', 'memcached_compound_unix', 'memcached_unix'],
        ['php-memcached `get()`', 'get_unix', null],
        ['memcached, TCP: `consume()`', 'memcached_tcp', 'get_tcp'],
        ['`Compound` of three', 'memcached_compound_tcp', 'memcached_tcp'],
        ['php-memcached `get()`', 'get_tcp', null],
    ];
}

function sql_rows(string $engine): array
{
    return [
        [SQL_NAMES[$engine] . ': `consume()` on one bucket', $engine, "pdo_{$engine}_select"],
        ['`Compound` of three, one transaction', "{$engine}_compound", $engine],
        ['`consume()` on 1,000 buckets, one after the other', "{$engine}_many", "pdo_{$engine}_many"],
        ['a denied `attempt()`, without the deny cache', "{$engine}_denied", "pdo_{$engine}_select"],
        ['the PDO transaction, 1,000 rows', "pdo_{$engine}_many", null],
        ['a `SELECT` of the row by primary key, by PDO', "pdo_{$engine}_select", null],
    ];
}

const SERVER_NAMES = [
    'pdo_mariadb_many' => 'the PDO transaction',
    'pdo_mysql_many' => 'the PDO transaction',
    'pdo_mariadb_select' => 'the `SELECT`',
    'pdo_mysql_select' => 'the `SELECT`',
    'ping_unix' => '`ping()`',
    'ping_tcp' => '`ping()`',
    'redis_unix' => '`consume()`',
    'redis_tcp' => '`consume()`',
    'memcached_unix' => '`consume()`',
    'memcached_tcp' => '`consume()`',
    'mariadb' => '`consume()`',
    'mysql' => '`consume()`',
    'get_unix' => '`get()`',
    'get_tcp' => '`get()`',
];
