<?php
/*
 * What is measured on servers, and beside what: each on the same server and kind of connection.
 */

use Symfony\Component\Cache\Adapter\RedisAdapter;
use Symfony\Component\Lock\LockFactory;
use Symfony\Component\Lock\Store\RedisStore;
use Symfony\Component\RateLimiter\RateLimiterFactory;
use Symfony\Component\RateLimiter\Storage\CacheStorage;

/** The least that a limiter's script does: one time a key, in microseconds (GCRA). */
const GCRA = <<<'LUA'
    local time = redis.call('TIME')
    local now = time[1] * 1000000 + time[2]
    local full_at = tonumber(redis.call('GET', KEYS[1]) or now)
    if full_at < now then full_at = now end
    full_at = full_at + ARGV[1]
    if full_at - now > tonumber(ARGV[2]) then return 0 end
    redis.call('SET', KEYS[1], string.format('%.0f', full_at), 'PX', math.ceil((full_at - now) / 1000))
    return 1
    LUA;

/** A limit that admits all that is measured, and one that denies it. */
const CAPACITY = 1_000_000_000;
const RATE = 1_000_000;

/** Where a DSN leads: a host and a port, or a socket's path and 0. */
function place(string $dsn): array
{
    preg_match('~^\w+(\+unix)?://(?:.*@)?([^?]+)~', $dsn, $found);
    [$host, $port] = explode(':', $found[2]) + ['', 0];
    return [$host, (int) $port];
}

function phpredis(string $dsn): Redis
{
    $redis = new Redis();
    $redis->connect(...place($dsn));
    if (preg_match('~//:(.*)@~', $dsn, $found)) {
        $redis->auth($found[1]);
    }
    return $redis;
}

/** A bucket on a server, which has decided once. */
function bucket(string $dsn, int $capacity = CAPACITY, float $rate = RATE): TokenBucket
{
    $bucket = new TokenBucket($dsn, 'bench', $capacity, $rate);
    $bucket->consume(min($capacity, 1_000_000));
    return $bucket;
}

function consume(TokenBucket $bucket): Closure
{
    return function ($n) use ($bucket) { for ($i = 0; $i < $n; $i++) { $bucket->consume(); } };
}

function ping(Redis $redis): Closure
{
    return function ($n) use ($redis) { for ($i = 0; $i < $n; $i++) { $redis->ping(); } };
}

function eval_sha(Redis $redis): Closure
{
    $hash = $redis->script('load', GCRA);
    return function ($n) use ($redis, $hash) {
        for ($i = 0; $i < $n; $i++) { $redis->evalSha($hash, ['gcra', 1, 1_000_000_000], 1); }
    };
}

function symfony_on(Redis $redis, bool $lock): Closure
{
    $config = [
        'id' => 'bench',
        'policy' => 'token_bucket',
        'limit' => CAPACITY,
        'rate' => ['interval' => '1 second', 'amount' => RATE],
    ];
    $storage = new CacheStorage(new RedisAdapter($redis, 'bench'));
    $factory = new RateLimiterFactory($config, $storage, $lock ? new LockFactory(new RedisStore($redis)) : null);
    $limiter = $factory->create('192.0.2.1');
    return function ($n) use ($limiter) { for ($i = 0; $i < $n; $i++) { $limiter->consume(); } };
}

/** A counter as PHP has it with php-memcached: read, and write if nobody else has. */
function get_cas(string $dsn): Closure
{
    $memcached = new Memcached();
    $memcached->setOption(Memcached::OPT_TCP_NODELAY, true);
    $memcached->addServer(...place($dsn));
    $memcached->set('counter', 0);
    return function ($n) use ($memcached) {
        for ($i = 0; $i < $n; $i++) {
            $read = $memcached->get('counter', null, Memcached::GET_EXTENDED);
            $memcached->cas($read['cas'], 'counter', $read['value'] + 1);
        }
    };
}

/** As it has it with php-memcache: a key that is added is a lock, deleted when done. */
function add_lock(string $dsn): Closure
{
    $memcache = new Memcache();
    [$host, $port] = place($dsn);
    $memcache->connect($port === 0 ? "unix://$host" : $host, $port);
    $memcache->set('number', 0);
    return function ($n) use ($memcache) {
        for ($i = 0; $i < $n; $i++) {
            $memcache->add('lock', 1);
            $memcache->set('number', $memcache->get('number') + 1);
            $memcache->delete('lock');
        }
    };
}

/** The PDO `TokenBucket` as it was published: a transaction with a row lock, statements prepared by the server. */
function pdo_transaction(): Closure
{
    $db = mysql_root();
    $db->exec('CREATE TABLE classic (identifier varchar(255) NOT NULL PRIMARY KEY, microtime double NOT NULL) ENGINE=InnoDB');
    $db->exec("INSERT INTO classic VALUES ('bench', 0)");
    [$full, $cost] = [CAPACITY / RATE, 1 / RATE];
    return function ($n) use ($db, $full, $cost) {
        for ($i = 0; $i < $n; $i++) {
            $db->beginTransaction();
            $query = $db->prepare('SELECT * FROM classic WHERE identifier = :id FOR UPDATE');
            $query->execute([':id' => 'bench']);
            $now = microtime(true);
            $available = min($now - $query->fetch(PDO::FETCH_ASSOC)['microtime'], $full);
            if ($available < $cost) {
                $db->rollBack();
                continue;
            }
            $query = $db->prepare('UPDATE classic SET microtime = :time WHERE identifier = :id');
            $query->execute([':time' => $now - $available + $cost, ':id' => 'bench']);
            $db->commit();
        }
    };
}

function mysql_root(): PDO
{
    $options = [PDO::ATTR_EMULATE_PREPARES => false, PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION];
    return new PDO('mysql:dbname=limits;unix_socket=' . getenv('TB_SERVERS') . '/mysql.sock', 'root', '', $options);
}

/** What MariaDB counted of its own while $work ran. */
function mysql_statements(callable $work): string
{
    $db = mysql_root();
    $count = fn () => $db->query("SHOW GLOBAL STATUS WHERE Variable_name IN ('Com_begin', 'Com_commit', 'Com_select', 'Com_insert', 'Com_update')")
        ->fetchAll(PDO::FETCH_KEY_PAIR);
    $before = $count();
    $work();
    $told = [];
    foreach ($count() as $name => $value) {
        if ($value > $before[$name]) {
            $told[] = "$name " . ($value - $before[$name]);
        }
    }
    return implode(', ', $told);
}

function server_cases(): array
{
    (new TokenBucket\MysqlStorage(getenv('TB_MYSQL_UNIX')))->prepare();
    $denied = bucket(getenv('TB_REDIS_UNIX') . '&prefix=denied:', 1, 0.001);
    $cases = ['loop' => function ($n) { for ($i = 0; $i < $n; $i++) { } }];
    foreach (['unix' => getenv('TB_REDIS_UNIX'), 'tcp' => getenv('TB_REDIS')] as $kind => $dsn) {
        $cases += [
            "ping_$kind" => ping(phpredis($dsn)),
            "evalsha_$kind" => eval_sha(phpredis($dsn)),
            "redis_$kind" => consume(bucket($dsn)),
        ];
    }
    $cases += [
        'denied' => consume($denied),
        'symfony' => symfony_on(phpredis(getenv('TB_REDIS_UNIX')), false),
        'locked' => symfony_on(phpredis(getenv('TB_REDIS_UNIX')), true),
    ];
    foreach (['unix' => getenv('TB_MEMCACHED_UNIX'), 'tcp' => getenv('TB_MEMCACHED')] as $kind => $dsn) {
        $cases += [
            "get_cas_$kind" => get_cas($dsn),
            "add_lock_$kind" => add_lock($dsn),
            "memcached_$kind" => consume(bucket($dsn)),
        ];
    }
    $cases['mysql'] = consume(bucket(getenv('TB_MYSQL_UNIX')));
    $cases['pdo'] = pdo_transaction();
    // The counters of the server are the proof that it is one statement a decision.
    foreach (['mysql' => '`consume()`', 'pdo' => 'the PDO transaction'] as $case => $name) {
        fwrite(STDERR, "MariaDB, 1,000 times $name: " . mysql_statements(fn () => $cases[$case](1_000)) . "\n");
    }
    return $cases;
}

/** What is told of them: a text, a case, and the one it is set beside. */
function server_rows(): array
{
    return [
        ['Redis, unix socket: `consume()`', 'redis_unix', 'evalsha_unix'],
        ['', 'redis_unix', 'ping_unix'],
        ['a denied call, with the deny cache', 'denied', 'ping_unix'],
        ['phpredis `ping()`', 'ping_unix', null],
        ['phpredis `evalSha()` of a minimal GCRA script', 'evalsha_unix', null],
        ['symfony/rate-limiter on phpredis, no lock', 'symfony', 'redis_unix'],
        ['symfony/rate-limiter, with its Redis lock', 'locked', 'redis_unix'],
        ['Redis, TCP: `consume()`', 'redis_tcp', 'evalsha_tcp'],
        ['', 'redis_tcp', 'ping_tcp'],
        ['phpredis `ping()`', 'ping_tcp', null],
        ['phpredis `evalSha()`', 'evalsha_tcp', null],
        ['memcached, unix socket: `consume()`', 'memcached_unix', 'get_cas_unix'],
        ['', 'memcached_unix', 'add_lock_unix'],
        ['php-memcached `get()` and `cas()`', 'get_cas_unix', null],
        ['php-memcache `add()`, `get()`, `set()`, `delete()`', 'add_lock_unix', null],
        ['memcached, TCP: `consume()`', 'memcached_tcp', 'get_cas_tcp'],
        ['', 'memcached_tcp', 'add_lock_tcp'],
        ['php-memcached `get()` and `cas()`', 'get_cas_tcp', null],
        ['php-memcache `add()`, `get()`, `set()`, `delete()`', 'add_lock_tcp', null],
        ['MariaDB, unix socket, no wait for a disk: `consume()`', 'mysql', 'pdo'],
        ['the PDO transaction with its row lock', 'pdo', null],
    ];
}

const SERVER_NAMES = [
    'pdo' => 'the PDO transaction',
    'ping_unix' => '`ping()`',
    'ping_tcp' => '`ping()`',
    'evalsha_unix' => '`evalSha()`',
    'evalsha_tcp' => '`evalSha()`',
    'redis_unix' => '`consume()`',
    'get_cas_unix' => '`get()` and `cas()`',
    'get_cas_tcp' => '`get()` and `cas()`',
    'add_lock_unix' => 'add, get, set, delete',
    'add_lock_tcp' => 'add, get, set, delete',
];
