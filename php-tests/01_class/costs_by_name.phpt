--TEST--
Compound: numbers of tokens by the names of the limits, in any order; each limit must have one
--INI--
token_bucket.limits={PWD}/costs_by_name.limits.ini
token_bucket.storage=array:
token_bucket.test_clock=1
--FILE--
<?php
require dirname(__DIR__) . '/utils.inc';
use TokenBucket\{Compound, FirstOf, FixedWindow, TestClock};
use function TokenBucket\{client_terms, limiter};

TestClock::freeze(1_000_000);
// The operator may order the limits of a set otherwise.
$file = __DIR__ . '/costs_by_name.limits.ini';
$write = fn (string $all) => file_put_contents($file, "[second]\nlimit = 10\ninterval = 1\n[day]\nlimit = 1000\ninterval = 86400\n[404]\nlimit = 9\ninterval = 60\n[api]\nall = $all\n[odd]\nall = day 404\n");
$left = fn (): string => json_encode(array_map(fn (string $name): int => limiter($name, 'x')->peek()->getRemainingTokens(), ['second', 'day', '404']));
$write('second, day');
$api = limiter('api', 'x');
$decision = $api->attempt(['day' => 20, 'second' => 1]);
echo $left(), ' ', json_encode($decision->settle(['second' => 2, 'day' => 7])), ' ', $left(), "\n";
echo json_encode([$api->consume(['second' => 3, 'day' => 1]), $api->refund(['day' => 1, 'second' => 3]), $api->peek(['day' => 1001, 'second' => 1])->isAccepted()]), ' ', $left(), "\n";
echo json_encode([$api->attempt(1, ['day' => 5, 'second' => 9])->isAccepted(), $api->attempt(1, ['second' => 2, 'day' => 900])->isAccepted()]), ' ', $left(), "\n";
limiter('odd', 'x')->consume(['404' => 2, 'day' => 1]);
echo $left(), "\n";
// A limit's name may have any bytes.
$odd = new Compound(TokenBucket::per(null, "caf\xe9:x", 9, 60), TokenBucket::per(null, 'tea:x', 9, 60));
echo json_encode([$odd->consume(['tea' => 1, "caf\xe9" => 9]), $odd->consume(['tea' => 1, "caf\xe9" => 1])]), "\n";
// The decision of a FirstOf is one limit's.
$first = (new FirstOf(TokenBucket::per(null, 'quota:x', 1, 60), TokenBucket::per(null, 'credits:x', 9, 60)));
echo json_encode([$first->attempt(5)->settle(['credits' => 7]), TokenBucket::per(null, 'credits:x', 9, 60)->peek()->getRemainingTokens()]), "\n";
// Names of limits in code: given, or the beginnings of their identifiers.
$both = new Compound(TokenBucket::per(null, 'login:x', 9, 60), new FixedWindow(null, 'y', 9, 60, name: 'mail'));
echo json_encode([$both->consume(['mail' => 9, 'login' => 1]), $both->peek(['login' => 8, 'mail' => 0])->isAccepted()]), "\n";

foreach ([['day' => 1], ['day' => 1, 'secnd' => 1], ['day' => 1, 'second' => 1, 'x' => 1], ['day' => 1, 1], [1 => 1, 0 => 1], [], ['day' => -1, 'second' => 1], ['day' => '1', 'second' => 1], ["\xff" => 1, 'second' => 1], ['day' => null, 'second' => 1]] as $costs) {
    echo thrown(fn () => $api->consume($costs));
}
echo thrown(fn () => $api->attempt()->settle(['day' => 1]));
echo thrown(fn () => (new Compound(TokenBucket::per(null, 'a', 9, 60), TokenBucket::per(null, 'b', 9, 60)))->consume(['default' => 1]));
echo thrown(fn () => (new Compound(TokenBucket::per(null, 'a', 9, 60), TokenBucket::per(null, 'b', 9, 60)))->consume(['default' => 1, 'x' => 2]));
echo thrown(fn () => client_terms('api', 'x'));
?>
--CLEAN--
<?php
unlink(__DIR__ . '/costs_by_name.limits.ini');
?>
--EXPECT--
[9,980,9] true [8,993,9]
[true,true,false] [8,993,9]
[false,true] [7,992,9]
[7,991,7]
[true,false]
[true,2]
[true,true]
ValueError: TokenBucket\Compound::consume(): Argument #1 ($token_count) must have one number for each of the 2 limiters: in their order, or by their names (second, day)
ValueError: TokenBucket\Compound::consume(): Argument #1 ($token_count) must have one number for each of the 2 limiters: in their order, or by their names (second, day)
ValueError: TokenBucket\Compound::consume(): Argument #1 ($token_count) must have one number for each of the 2 limiters: in their order, or by their names (second, day)
ValueError: TokenBucket\Compound::consume(): Argument #1 ($token_count) must have one number for each of the 2 limiters: in their order, or by their names (second, day)
ValueError: TokenBucket\Compound::consume(): Argument #1 ($token_count) must have one number for each of the 2 limiters: in their order, or by their names (second, day)
ValueError: TokenBucket\Compound::consume(): Argument #1 ($token_count) must have one number for each of the 2 limiters: in their order, or by their names (second, day)
ValueError: TokenBucket\Compound::consume(): Argument #1 ($token_count) must contain only numbers of 0 or more
TypeError: TokenBucket\Compound::consume(): Argument #1 ($token_count) must be of type array|int, with ints in the array
ValueError: TokenBucket\Compound::consume(): Argument #1 ($token_count) must have one number for each of the 2 limiters: in their order, or by their names (second, day)
TypeError: TokenBucket\Compound::consume(): Argument #1 ($token_count) must be of type array|int, with ints in the array
ValueError: TokenBucket\Decision::settle(): Argument #1 ($tokens) must have one number for each of the 2 limiters: in their order, or by their names (second, day)
ValueError: TokenBucket\Compound::consume(): Argument #1 ($token_count) must be a list with one number for each of the 2 limiters
ValueError: TokenBucket\Compound::consume(): Argument #1 ($token_count) must be a list with one number for each of the 2 limiters
ValueError: TokenBucket\client_terms(): Argument #1 ($name) must be a single limit; api is a set: ask for second or day
