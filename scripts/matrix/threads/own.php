<?php
// Sets everything that is a request's own, and finds nothing else: other threads of the process do
// the same with other values meanwhile. All of them ask for one identifier.

final class Mismatch extends Exception {}

function same(mixed $expected, mixed $found, string $what): void
{
    if ($expected !== $found) {
        throw new Mismatch("$what: " . var_export($found, true) . ' instead of ' . var_export($expected, true));
    }
}

/** Lets other threads go on. */
function others(): void
{
    usleep(random_int(0, 300));
}

/** What $work throws. */
function thrown(callable $work): string
{
    try {
        $work();
    } catch (Throwable $thrown) {
        return get_class($thrown) . ': ' . $thrown->getMessage();
    }
    return 'nothing';
}

class Keyed extends TokenBucket
{
    public static string $own = '';
    public static ?TokenBucket\Permit $permit = null;

    protected function key(string $id): string
    {
        others();
        return self::$own . $id;
    }
}

final class OwnStorage implements TokenBucketStorage
{
    public function __construct(private readonly string $own, public array $asked = []) {}
    public function prepare() {}
    public function bootstrap($identifier, $microtime) { $this->asked[] = "bootstrap $identifier $this->own"; }
    public function consume($identifier, $microtime, $full_microtime, $bootstrap_closure)
    {
        others();
        return $bootstrap_closure();
    }
}

$own = bin2hex(random_bytes(8));
$defaults = [
    'storage' => 'shm:', 'prefix' => 'tb:', 'on_error' => 'fallback', 'timeout_ms' => '50', 'connect_timeout_ms' => '100',
    'deny_cache' => '1', 'enforce' => '1', 'track_identifiers' => '1',
];
$values = [
    'storage' => 'shm:own' . random_int(0, 3), 'prefix' => "$own:", 'on_error' => ['open', 'closed', 'throw'][random_int(0, 2)],
    'timeout_ms' => (string) random_int(1, 9999), 'connect_timeout_ms' => (string) random_int(1, 9999), 'deny_cache' => (string) random_int(0, 1),
    'enforce' => (string) random_int(0, 1), 'track_identifiers' => (string) random_int(0, 1),
];
$enforced = $values['enforce'] === '1';
$time = random_int(1, 1_000_000);
$capacity = random_int(1, 20);
$interval = random_int(2, 1000);

// Nothing is left of the request before, in this thread or another.
foreach ($defaults as $name => $value) {
    same($value, ini_get("token_bucket.$name"), "token_bucket.$name at first");
}
same('LogicException: TokenBucket\TestClock::advance() needs a frozen clock, call freeze() first', thrown(fn () => TokenBucket\TestClock::advance(1)), 'clock at first');
same('', Keyed::$own, 'static property at first');

foreach ($values as $name => $value) {
    same($defaults[$name], ini_set("token_bucket.$name", $value), "ini_set of token_bucket.$name");
    others();
}
TokenBucket\TestClock::freeze($time);
Keyed::$own = $own;

$limiters = [
    'TokenBucket' => [new TokenBucket(null, 'one', $capacity, 1 / $interval, name: 'named'), (float) $interval],
    'FixedWindow' => [new TokenBucket\FixedWindow(null, 'one', $capacity, $interval), $interval + 1e-9],
    'LeakyBucket' => [new TokenBucket\LeakyBucket(null, 'leaky', $capacity, $capacity * $interval), (float) $interval],
];
foreach ($limiters as $kind => [$limiter, $retry_after]) {
    for ($i = 0; $i < $capacity; $i++) {
        same(true, $limiter->consume(), "$kind: call $i of $capacity");
        others();
    }
    $decision = $limiter->attempt();
    same(!$enforced, $decision->isAccepted(), "$kind: one too many");
    same(true, $decision->wouldDeny(), "$kind: told of it");
    same($capacity, $decision->getLimit(), "$kind: limit");
    if ($enforced) {
        same(round($retry_after, 6), round($decision->getRetryAfter(), 6), "$kind: retry after");
    }
}
TokenBucket\TestClock::advance($interval);
others();
same(false, $limiters['TokenBucket'][0]->attempt()->wouldDeny(), 'after the clock has gone on');

$keyed = new Keyed(null, 'keyed', 1, 1 / $interval);
same(false, $keyed->check('client', 1, $interval), 'key(): first check');
same($enforced, $keyed->check('client', 1, $interval), 'key(): second check');

$limit = new TokenBucket\ConcurrencyLimit(null, 'permits', 2, 30);
[Keyed::$permit, $permit] = [$limit->acquire(), $limit->acquire()];
others();
same(!$enforced, $limit->acquire() !== null, 'permits: one too many');
same([2, true, true], [$limit->getActive(), $permit->renew(), Keyed::$permit->renew()], 'permits: held');
$permit->release();
others();
// What is left goes back at the end of the request.
same(1, $limit->getActive(), 'permits: after a release');

$storage = new OwnStorage($own);
same(true, (new TokenBucket($storage, 'php', 5, 1))->consume(), 'a storage in PHP');
same(["bootstrap php $own"], $storage->asked, 'what it was asked');

same(true, str_contains(thrown(fn () => new TokenBucket("nothing-$own:", 'one', 1, 1)), "nothing-$own"), 'exception');
same('ValueError: TokenBucket::__construct(): Argument #3 ($bucket_capacity) must be between 1 and 2147483647', thrown(fn () => new TokenBucket(null, 'one', 0, 1)), 'error');
// Counted under this request's prefix; the reset frees the record for others.
same($capacity + 2, TokenBucket\statistics()['named']['checked'], 'statistics');
TokenBucket\reset_statistics();
same(false, isset(TokenBucket\statistics()['named']), 'statistics after they were reset');

foreach ($values as $name => $value) {
    same($value, ini_get("token_bucket.$name"), "token_bucket.$name at last");
}
same($own, Keyed::$own, 'static property at last');
echo "own\n";
