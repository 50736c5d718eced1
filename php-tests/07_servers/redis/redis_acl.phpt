--TEST--
Redis: the user of docs/stores.md has all limits of its prefix, and no key of another one's
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.on_error=throw
token_bucket.timeout_ms=10000
token_bucket.connect_timeout_ms=10000
--FILE--
<?php
require dirname(__DIR__, 2) . '/servers.inc';

preg_match('/^ +(ACL SETUSER limiter on >secret .*)$/m', file_get_contents(dirname(__DIR__, 3) . '/docs/stores.md'), $found) || give_up('docs/stores.md has no user');
$redis = new Server('redis');
echo $redis->ask($found[1]);

$dsn = "redis://limiter:secret@127.0.0.1:$redis->port";
(new TokenBucket\RedisStorage($dsn))->prepare();
foreach (['plain', 'to be hashed', 'h:x', 'x#w'] as $id) {
    $limiters = [TokenBucket::per($dsn, $id, 5, 300), new TokenBucket\FixedWindow($dsn, $id, 5, 300), new TokenBucket\SlidingWindow($dsn, $id, 5, 300)];
    foreach ($limiters as $limiter) {
        $limiter->consume();
        $limiter->block(60);
        $limiter->reset();
        $limiter->peek();
    }
    echo "$id: ", (new TokenBucket\Compound(...$limiters))->consume() ? 'accepted, ' : 'denied, ';
    $permit = (new TokenBucket\ConcurrencyLimit($dsn, $id, 1))->acquire();
    echo $permit->renew() ? "held\n" : "lost\n";
    $permit->release();
}
// What other applications call their keys, and another prefix.
foreach (['s:session', 'c:cart', 'w:widget', 'session:1', 'other:x', 'other:#hx', 'x:tb:x', '#hx'] as $key) {
    echo "$key: ", preg_match('/NOPERM/', $redis->ask("AUTH limiter secret\r\nSET $key x")) ? 'refused' : 'open', "\n";
}
?>
--EXPECT--
+OK
+OK
plain: accepted, held
to be hashed: accepted, held
h:x: accepted, held
x#w: accepted, held
s:session: refused
c:cart: refused
w:widget: refused
session:1: refused
other:x: refused
other:#hx: refused
x:tb:x: refused
#hx: refused
