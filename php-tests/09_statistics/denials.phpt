--TEST--
denials(): every kind of limit and call, one entry for a client, a limit and a cause; status() has the latest
--FILE--
<?php
use TokenBucket\{Compound, ConcurrencyLimit, FixedWindow, LeakyBucket, SlidingWindow};
use function TokenBucket\{denials, reset_statistics, status};
require dirname(__DIR__) . '/utils.inc';
require dirname(__DIR__) . '/02_storages/php_storage.inc';
run_apart(__FILE__);

/** The denials, without their times. */
function show(?string $name = null, ?string $client = null): void
{
    foreach (denials($name, $client) as $denial) {
        $identifier = $denial['identifier'] === null ? 'null' : addcslashes(preg_replace('/(.)\1{20,}/', '$1...', $denial['identifier']), "\0..\37\177..\377");
        $seconds = json_encode($denial['interval']);
        echo "$denial[count] times $denial[name] $identifier: $denial[algorithm] $denial[limit]/$seconds, $denial[reason], $denial[decided_by]", $denial['enforced'] ? '' : ', dry run', "\n";
    }
}
var_dump(denials());

$began = microtime(true);
$bucket = TokenBucket::per(null, 'login:192.0.2.1', 2, 300);
times(5, $bucket->consume(...));
$decision = $bucket->attempt();
$bucket->peek();
$_ = $bucket->reserve(1, 0);
// A block is seen by the call that returns a bool as by the one that returns a decision.
$bucket->block(60);
$bucket->consume();
$decision = $bucket->attempt();
show();
['first_at' => $first, 'last_at' => $last] = denials()[0];
var_dump($first >= $began - 1 && $last >= $first && $last <= microtime(true) + 1);

echo "each kind\n";
times(2, fn () => (new TokenBucket(null, 'api'))->check('anna', 1, 60));
times(2, (new LeakyBucket('array:', 'leaky:x', 1, 10))->consume(...));
times(2, (new FixedWindow('array:', 'fixed:x', 1, 10))->consume(...));
times(2, (new SlidingWindow(null, 'sliding:x', 1, 9.5))->consume(...));
(new TokenBucket(new MemoryStorage, 'php:x', 1, 1))->consume(2);
$limit = new ConcurrencyLimit(null, 'report:x', 1);
$permit = $limit->acquire();
$denied = $limit->acquire();
(new TokenBucket('array:?enforce=0', 'dry:x', 1, 1))->consume(2);
array_map(show(...), ['api', 'leaky', 'fixed', 'sliding', 'php', 'report', 'dry']);

echo "a compound: those that deny\n";
(new Compound(new TokenBucket('array:', 'first:x', 1, 1), $denying = new FixedWindow('array:', 'second:x', 1, 10)))->consume(2);
$denying->consume();
$decision = (new Compound(new TokenBucket('array:', 'first:x', 9, 1), $denying))->attempt();
show('first');
show('second');

echo "a server that does not answer\n";
foreach (['fallback', 'closed', 'open'] as $policy) {
    @(new TokenBucket("redis://127.0.0.1:1?on_error=$policy&prefix=$policy", "$policy:x", 1, 1))->consume(2);
    show($policy);
}
@(new ConcurrencyLimit('redis://127.0.0.1:1?on_error=closed', 'reports:x', 3))->acquire();
show('reports');

echo "the client: the identifier, or what stands behind the name\n";
(new TokenBucket('array:', "odd:\0\xff " . str_repeat('n', 200), 1, 1))->consume(2);
show('login', '192.0.2.1');
show('login', 'login:192.0.2.1');
show(null, '192.0.2.1');
show('odd', "\0\xff " . str_repeat('n', 200));
show('login', '192.0.2.2');
show('nothing');

echo "the client is the beginning of a longer one\n";
foreach (['pair:192.0.2.1 anna', 'pair:2001:db8::1:5', 'pair:2001:db8::1 eve', 'pair:api:key', '192.0.2.1:8080'] as $identifier) {
    (new TokenBucket('array:', $identifier, 1, 1, 'pair'))->consume(2);
}
array_map(fn (string $client) => [print("$client?\n"), show('pair', $client)], ['192.0.2.1', '192.0.2', '192.0.2.1 ann', '2001:db8::1', '2001:db8:', 'api', 'api:k']);

echo "no identifiers\n";
ini_set('token_bucket.track_identifiers', '0');
(new TokenBucket('array:', 'untracked:x', 1, 1))->consume(2);
(new TokenBucket('array:', 'untracked:y', 1, 1))->consume(2);
show('untracked');
show('second');
ini_restore('token_bucket.track_identifiers');
show('untracked');

echo "prefixes\n";
var_dump(status()['denials'] === denials());
ini_set('token_bucket.prefix', 'other:');
(new TokenBucket('array:', 'other:x', 1, 1))->consume(2);
show();
reset_statistics();
show();
ini_restore('token_bucket.prefix');
echo count(denials()), " of the prefix\n";
reset_statistics();
echo count(denials()), "\n";
for ($i = 0; $i < 300; $i++) {
    (new TokenBucket('array:', "many:$i", 1, 1))->consume(2);
}
echo count(denials()), ', the latest ', denials()[0]['identifier'], '; in status() ', count(status()['denials']), "\n";
thrown(fn () => denials([]));
?>
--EXPECT--
array(0) {
}
2 times login login:192.0.2.1: token_bucket 2/300, blocked, store
5 times login login:192.0.2.1: token_bucket 2/300, empty, store
bool(true)
each kind
1 times api api:anna: token_bucket 1/60, empty, store
1 times leaky leaky:x: token_bucket 1/10, empty, store
1 times fixed fixed:x: fixed_window 1/10, empty, store
1 times sliding sliding:x: sliding_window 1/9.5, empty, store
1 times php php:x: token_bucket 1/1, empty, store
1 times report report:x: concurrency 1/null, empty, store
1 times dry dry:x: token_bucket 1/1, empty, store, dry run
a compound: those that deny
1 times first first:x: token_bucket 1/1, empty, store
2 times second second:x: fixed_window 1/10, empty, store
a server that does not answer
1 times fallback fallback:x: token_bucket 1/1, empty, fallback
1 times closed closed:x: token_bucket 1/1, outage, on_error
1 times reports reports:x: concurrency 3/null, outage, on_error
the client: the identifier, or what stands behind the name
2 times login login:192.0.2.1: token_bucket 2/300, blocked, store
5 times login login:192.0.2.1: token_bucket 2/300, empty, store
2 times login login:192.0.2.1: token_bucket 2/300, blocked, store
5 times login login:192.0.2.1: token_bucket 2/300, empty, store
2 times login login:192.0.2.1: token_bucket 2/300, blocked, store
5 times login login:192.0.2.1: token_bucket 2/300, empty, store
1 times odd odd:\000\377 n...: token_bucket 1/1, empty, store
the client is the beginning of a longer one
192.0.2.1?
1 times pair 192.0.2.1:8080: token_bucket 1/1, empty, store
1 times pair pair:192.0.2.1 anna: token_bucket 1/1, empty, store
192.0.2?
192.0.2.1 ann?
2001:db8::1?
1 times pair pair:2001:db8::1 eve: token_bucket 1/1, empty, store
2001:db8:?
api?
1 times pair pair:api:key: token_bucket 1/1, empty, store
api:k?
no identifiers
2 times untracked null: token_bucket 1/1, empty, store
2 times second null: fixed_window 1/10, empty, store
2 times untracked null: token_bucket 1/1, empty, store
prefixes
bool(true)
1 times other other:x: token_bucket 1/1, empty, store
21 of the prefix
0
300, the latest many:299; in status() 100
TypeError: TokenBucket\denials(): Argument #1 ($name) must be of type ?string, array given
