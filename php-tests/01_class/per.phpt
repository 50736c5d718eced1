--TEST--
TokenBucket: per(): a limit of some tokens in some seconds
--INI--
token_bucket.test_clock=1
--FILE--
<?php
require __DIR__ . '/../utils.inc';
use TokenBucket\TestClock;

TestClock::freeze(1_000_000);
$bucket = TokenBucket::per('array:', 'login:x', 5, 300);
var_dump($bucket);
echo times(7, fn () => $bucket->consume()), ' ', $bucket->attempt()->getRetryAfter(), "\n";
// One token comes back every minute, not all of them at once.
TestClock::advance(59.999999999);
echo times(1, fn () => $bucket->consume());
TestClock::advance(0.000000001);
echo times(2, fn () => $bucket->consume()), "\n";
TestClock::advance(300);
echo times(6, fn () => $bucket->consume()), "\n";

// It is the bucket that the constructor and a LeakyBucket make, and decides as theirs do.
mt_srand(7);
$equal = 0;
$storage = new TokenBucket\ArrayStorage;
$limiters = [TokenBucket::per($storage, 'a', 5, 300), new TokenBucket($storage, 'b', 5, 5 / 300), new TokenBucket\LeakyBucket($storage, 'c', 5, 300)];
for ($i = 0; $i < 1_000; $i++) {
    TestClock::advance(mt_rand(0, 90_000) / 1_000);
    $cost = mt_rand(0, 3);
    $decisions = array_map(fn ($limiter) => json_encode($limiter->attempt($cost)), $limiters);
    $equal += (int) ($decisions[0] === $decisions[2] && json_decode($decisions[0])->accepted === json_decode($decisions[1])->accepted);
}
echo $equal, ' of 1000 equal, ', (new TokenBucket($storage, 'a', 5, 5 / 300))->peek()->getRemainingTokens() === $limiters[0]->peek()->getRemainingTokens() ? 'shared' : 'apart', "\n";

// Periods with fractions are what they say, to the nanosecond.
$late = $early = 0;
foreach ([17, 3, 1_000, 7] as $limit) {
    foreach ([0.017, 0.3, 1.1, 2.7] as $seconds) {
        $bucket = TokenBucket::per('array:', "$limit in $seconds", $limit, $seconds);
        $bucket->consume($limit);
        TestClock::advance($seconds - 1e-9);
        $early += (int) $bucket->consume($limit);
        TestClock::advance(1e-9);
        $late += (int) !$bucket->consume($limit);
    }
}
echo "$early too early, $late too late\n";

// Ends of the ranges.
$longest = TokenBucket::per('array:', 'four years', 1, 4 * 31_557_600);
echo times(2, fn () => $longest->consume()), ' ', $longest->attempt()->getRetryAfter(), "\n";
$most = TokenBucket::per('array:', 'most', 2_147_483_647, 2.147483647);
var_dump($most->consume(2_147_483_647), $most->consume());
TestClock::advance(1e-9);
echo times(2, fn () => $most->consume()), "\n";
echo TokenBucket::per(limit: 3, interval: 60, identifier: 'named', storage: null, name: 'n')->peek()->getLimit(), ' ', TokenBucket::per('array:', 'x', '3', '60')->peek(4)->getRetryAfter(), "\n";

// Of an extending class it makes an object of that class, without its constructor.
class Client extends TokenBucket
{
    public int $calls = 7;
    public function __construct(string $other)
    {
        echo "the constructor ran\n";
    }
    public function consume(int $token_count = 1): bool
    {
        $this->calls++;
        return parent::consume($token_count);
    }
    protected function key(string $id): string
    {
        return "own:$id";
    }
    public static function short(string $id): static
    {
        return static::per('array:', $id, 2, 60, 'short');
    }
}
final class Named extends Client
{
}
$client = Named::short('x');
echo $client::class, ' ', times(3, fn () => $client->consume()), ' ', $client->calls, ' ', implode($client->attempt()->getDeniedBy()), "\n";
$client->check('c', 1, 60);
echo TokenBucket::per('array:', 'own:c', 1, 60)->peek()->isAccepted() ? 'key() was not called' : 'key() was called', "\n";
?>
--EXPECTF--
object(TokenBucket)#%d (3) {
  ["identifier"]=>
  string(7) "login:x"
  ["bucket_capacity"]=>
  int(5)
  ["tokens_per_second"]=>
  float(0.016666666666666666)
}
1111100 60
010
111110
1000 of 1000 equal, shared
0 too early, 0 too late
10 126230400
bool(true)
bool(false)
10
3 INF
Named 110 10 short
key() was called
