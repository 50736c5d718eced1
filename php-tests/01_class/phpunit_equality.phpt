--TEST--
PHPUnit's assertEquals() tells decisions, limiters, sets, permits and storages apart by what they show; limiters of equal numbers are equal
--EXTENSIONS--
mbstring
--SKIPIF--
<?php is_file('/usr/share/php/PHPUnit/Autoload.php') || exit('skip PHPUnit is not installed as Debian does'); ?>
--FILE--
<?php
require dirname(__DIR__) . '/utils.inc';
run_apart(__FILE__);
set_include_path('/usr/share/php');
require '/usr/share/php/PHPUnit/Autoload.php';
use PHPUnit\Framework\{Assert, ExpectationFailedException};
use TokenBucket\{ArrayStorage, CalendarWindow, Compound, ConcurrencyLimit, FirstOf, FixedWindow, RedisStorage, TestClock};

TestClock::freeze(1_000_000);
$equal = function (object $a, object $b): string {
    try {
        Assert::assertEquals($a, $b);
        return 'equal';
    } catch (ExpectationFailedException) {
        return 'different';
    }
};
$store = new ArrayStorage;
$bucket = fn (string $identifier, int $limit, ?string $name = null) => TokenBucket::per($store, $identifier, $limit, 60, $name);
[$one, $two] = [$bucket('a', 1), $bucket('b', 5)];
$all = fn (int $limit) => new Compound($one, new FixedWindow($store, 'f', $limit, 60));
$first = fn (int $limit) => new FirstOf($one, new FixedWindow($store, 'f', $limit, 60));
$permits = fn (string $identifier) => new ConcurrencyLimit($store, $identifier, 2, 10);
$pairs = [
    'accepted and denied' => [$one->attempt(), $one->attempt()],
    'more tokens left' => [$two->attempt(), $two->attempt()],
    'tokens taken' => [$two->attempt(2), $two->peek()],
    'another limit' => [$bucket('c', 3, 'first')->attempt(), $bucket('d', 3, 'second')->attempt()],
    'one decision' => [$same = $two->peek(), $same],
    'equal decisions' => [$two->peek(), $two->peek()],
    'identifier' => [$bucket('e', 5), $bucket('f', 5)],
    'limit' => [$bucket('e', 5), $bucket('e', 6)],
    'name' => [$bucket('e', 5, 'first'), $bucket('e', 5, 'second')],
    'time zone' => [new CalendarWindow($store, 'e', 5, 'day'), new CalendarWindow($store, 'e', 5, 'day', 'Europe/Paris')],
    'equal limiters' => [$bucket('e', 5), $bucket('e', 5)],
    'limit within a set' => [$all(5), $all(6)],
    'limit within a FirstOf' => [$first(5), $first(6)],
    'equal sets' => [$all(5), $all(5)],
    'permits' => [$permits('g'), $permits('h')],
    'permit' => [$permits('g')->acquire(), $permits('h')->acquire()],
    'storage' => [new RedisStorage('redis://localhost'), new RedisStorage('redis://localhost/1')],
];
foreach ($pairs as $what => [$a, $b]) {
    // PHP itself takes no two of these objects for equal.
    echo "$what: ", $equal($a, $b), ($a == $b) === ($a === $b) ? '' : ', but ==', "\n";
}
echo implode(' ', (array) new RedisStorage('redis://user:secret@localhost')), "\n";
?>
--EXPECT--
accepted and denied: different
more tokens left: different
tokens taken: different
another limit: different
one decision: equal
equal decisions: equal
identifier: different
limit: different
name: different
time zone: different
equal limiters: equal
limit within a set: different
limit within a FirstOf: different
equal sets: equal
permits: different
permit: different
storage: different
redis://***@localhost
