--TEST--
statistics(): reports checked, accepted and denied calls by the limits' names, and the identifiers denied most
--FILE--
<?php
use TokenBucket\{FixedWindow, LeakyBucket, TestClock};
use function TokenBucket\statistics;
require dirname(__DIR__) . '/utils.inc';
require dirname(__DIR__) . '/02_storages/php_storage.inc';

run_apart(__FILE__);

function tell(string ...$names): void
{
    foreach ($names as $name) {
        $row = statistics()[$name];
        echo json_encode($name), ': ', implode(' ', array_slice($row, 0, 7)), ' ', json_encode($row['most_denied']), "\n";
    }
}
var_dump(statistics());
TestClock::freeze(1_000);

// Every call that asks counts, and none that does not.
$bucket = new TokenBucket(null, 'login:192.0.2.1', 2, 1);
for ($i = 0; $i < 5; $i++) {
    $bucket->consume();
}
$decision = $bucket->attempt();
$_ = $bucket->reserve(1, 0);
$bucket->peek();
$bucket->refund();
$bucket->consume(0);
$bucket->consume(3);
tell('login');
echo implode(' ', array_keys(statistics()['login'])), "\n";

// Names: from the identifier, or given; an address by itself has none.
(new TokenBucket(null, 'login'))->check('198.51.100.7', 1, 60);
(new TokenBucket(null, 'login'))->check('198.51.100.7', 1, 60);
(new TokenBucket(null, '192.0.2.1', 1, 1))->consume();
(new TokenBucket(null, '2001:db8::1', 1, 1))->consume();
(new TokenBucket(null, '4711', 1, 1))->consume();
(new TokenBucket(null, '4711', 1, 1, name: 'user'))->consume();
(new LeakyBucket('array:', 'search:4711', 1, 1))->consume();
(new FixedWindow('array:', '4711', 1, 1, name: 'form'))->consume(2);
(new class(null, 'login', 1, 1) extends TokenBucket {
    protected function key(string $id): string
    {
        return "own:$id";
    }
})->check('x');
(new TokenBucket(new MemoryStorage, 'php:x', 1, 1))->consume();
tell('login', '', 'user', 'search', 'form', 'own', 'php');
var_dump(isset(statistics()['4711']));

// Who is denied most stands first; whatever an identifier is made of.
foreach (['a' => 3, 'b' => 9, "c\0\xff" => 5, str_repeat('d', 200) => 7, '12' => 1] as $id => $times) {
    $bucket = new TokenBucket('array:', "top:$id", 1, 1, name: 'top');
    $bucket->consume();
    for ($i = 0; $i < $times; $i++) {
        $bucket->consume();
    }
}
foreach (statistics()['top']['most_denied'] as $id => $count) {
    echo bin2hex(substr($id, 0, 7)), ' ', strlen($id), " $count\n";
}

// A flood of others does not push him off the list.
for ($i = 0; $i < 20_000; $i++) {
    (new TokenBucket('array:', "flood:$i", 1, 1))->consume(2);
    (new TokenBucket('array:', 'flood:him', 1, 1))->consume(2);
}
$flood = statistics()['flood'];
$him = $flood['most_denied']['flood:him'];
echo $flood['denied'], ' ', array_key_first($flood['most_denied']), ' ', $him > 17_000 && $him < 23_000 ? 'about 20000' : $him,
    ' ', count($flood['most_denied']) <= 16 ? 'few' : 'many', "\n";

// Who was denied often, and comes no more, makes way.
for ($i = 0; $i < 80; $i++) {
    $old = new TokenBucket('array:', "aging:$i", 1, 1);
    for ($n = 0; $n < 200; $n++) {
        $old->consume(2);
    }
}
for ($n = 0; $n < 20_000; $n++) {
    (new TokenBucket('array:', 'aging:today', 1, 1))->consume(2);
}
echo array_key_first(statistics()['aging']['most_denied']), "\n";

// Nobody is named where that is not wanted.
ini_set('token_bucket.track_identifiers', '0');
tell('login');
(new TokenBucket('array:', 'quiet:x', 1, 1))->consume(2);
ini_set('token_bucket.track_identifiers', '1');
tell('login', 'quiet');

// Each prefix has counts of its own: of the DSN's prefix nothing is said, for it names keys.
ini_set('token_bucket.prefix', 'other:');
(new TokenBucket('array:', 'login:203.0.113.9', 1, 1))->consume(2);
(new TokenBucket('array:?prefix=dsn:', 'login:203.0.113.9', 1, 1))->consume(2);
(new TokenBucket(new MemoryStorage, 'php:y', 1, 1))->consume();
tell('login', 'php');
echo implode(' ', array_keys(statistics())), "\n";
ini_restore('token_bucket.prefix');
tell('login', 'php');
$all = statistics('*');
echo implode(' ', array_keys($all)), ': ', $all['tb:'] === statistics() && statistics(null) === statistics() && $all['other:'] === statistics('other:') ? 'the same' : 'not the same', "\n";
// What has no place of its own is under '*', and so is a prefix of that name.
ini_set('token_bucket.prefix', '*');
(new TokenBucket('array:', 'star:x', 1, 1))->consume();
ini_restore('token_bucket.prefix');
echo json_encode(array_keys(statistics('*')['*'])), "\n";
var_dump(statistics('nothing:'));
thrown(fn () => statistics([]));
?>
--EXPECTF--
array(0) {
}
"login": 9 3 6 0 0 0 0 {"login:192.0.2.1":6}
checked accepted denied would_deny errors busy degraded evictions exempt most_denied
"login": 11 4 7 0 0 0 0 {"login:192.0.2.1":6,"login:198.51.100.7":1}
"": 3 3 0 0 0 0 0 []
"user": 1 0 1 0 0 0 0 {"4711":1}
"search": 1 1 0 0 0 0 0 []
"form": 1 0 1 0 0 0 0 {"4711":1}
"own": 1 1 0 0 0 0 0 []
"php": 1 1 0 0 0 0 0 []
bool(false)
746f703a62 5 9
746f703a646464 96 7
746f703a6300ff 7 5
746f703a61 5 3
746f703a3132 6 1
40000 flood:him about 20000 few
aging:today
"login": 11 4 7 0 0 0 0 []
"login": 11 4 7 0 0 0 0 {"login:192.0.2.1":6,"login:198.51.100.7":1}
"quiet": 1 0 1 0 0 0 0 []
"login": 2 0 2 0 0 0 0 {"login:203.0.113.9":2}
"php": 1 1 0 0 0 0 0 []
login php
"login": 11 4 7 0 0 0 0 {"login:192.0.2.1":6,"login:198.51.100.7":1}
"php": 1 1 0 0 0 0 0 []
other: tb:: the same
["star"]
array(0) {
}
TypeError: TokenBucket\statistics(): Argument #1 ($prefix) must be of type ?string, array given
