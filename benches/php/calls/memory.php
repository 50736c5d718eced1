<?php
/*
 * The cases in shared memory, and the cases beside them.
 */

/** TokenBucket's constructor and one method in PHP, which do nothing. */
final class PlainBucket
{
    public function __construct(
        private TokenBucketStorage|string|null $storage,
        private string $identifier,
        private ?int $bucket_capacity = null,
        private ?float $tokens_per_second = null,
    ) {
    }

    public function consume(int $token_count = 1): bool
    {
        return true;
    }
}

/** Calls that are all accepted: a call takes longer than 50 ns, so a hit leaves before the window is full. */
function consume_sliding(int $limit): Closure
{
    $window = new TokenBucket\SlidingWindow(null, "sliding-$limit", $limit, $limit * 50e-9);
    return function ($n) use ($window) { for ($i = 0; $i < $n; $i++) { $window->consume(); } };
}

/** Calls on a window that is empty at first. */
function consume_window(TokenBucket\Limiter $window): Closure
{
    return function ($n) use ($window) { for ($window->reset(), $i = 0; $i < $n; $i++) { $window->consume(); } };
}

/** Calls that are all denied. */
function denied_sliding(int $limit): Closure
{
    $window = new TokenBucket\SlidingWindow(null, "sliding-denied-$limit", $limit, 1e6);
    $window->consume($limit);
    return function ($n) use ($window) { for ($i = 0; $i < $n; $i++) { $window->consume(); } };
}

/** @param TokenBucket[] $buckets */
function consume_compound(array $buckets): Closure
{
    $compound = new TokenBucket\Compound(...$buckets);
    $compound->consume();
    return function ($n) use ($compound) { for ($i = 0; $i < $n; $i++) { $compound->consume(); } };
}

/** @param TokenBucket[] $buckets three */
function three_calls(array $buckets): Closure
{
    [$one, $two, $three] = $buckets;
    return function ($n) use ($one, $two, $three) { for ($i = 0; $i < $n; $i++) { $one->consume() && $two->consume() && $three->consume(); } };
}

/** Takes a permit of five and gives it back. The first ones are held all the while. */
function acquire_and_release(?string $dsn, int $held = 0): Closure
{
    $limit = new TokenBucket\ConcurrencyLimit($dsn, "permits-$held", 5, 600);
    $first = array_map(fn () => $limit->acquire(), array_fill(0, $held, null));
    return function ($n) use ($limit, $first) { for ($i = 0; $i < $n; $i++) { $limit->acquire()->release(); } };
}

/** Asks for a permit while this process holds all five. */
function acquire_denied(): Closure
{
    $limit = new TokenBucket\ConcurrencyLimit(null, 'permits-all', 5, 600);
    $permits = array_map(fn () => $limit->acquire(), range(1, 5));
    return function ($n) use ($limit, $permits) { for ($i = 0; $i < $n; $i++) { $limit->acquire(); } };
}

function memory_cases(): array
{
    $identifiers = [];
    for ($i = 0; $i < 100_000; $i++) {
        $identifiers[] = '198.51.' . mt_rand(0, 255) . '.' . $i;
    }
    $hot = new TokenBucket(null, 'hot', 1_000_000_000, 1_000_000);
    $hot->consume(1_000_000);
    $denied = new TokenBucket(null, 'denied', 1, 0.001);
    $denied->consume();
    $many = array_map(fn ($id) => new TokenBucket(null, $id, 1_000_000, 1_000), $identifiers);
    array_walk($many, fn ($bucket) => $bucket->consume());
    $decision = $hot->peek();
    $array = new SplFixedArray(1);
    $in_process = new TokenBucket('array:', 'hot', 1_000_000_000, 1_000_000);
    $in_process->consume(1_000_000);
    $three = array_map(fn ($name) => new TokenBucket(null, $name, 1_000_000_000, 1_000_000), ['one', 'two', 'three']);
    $first = new TokenBucket\FirstOf($hot, $three[0]);
    $storage = new TokenBucket\SharedMemoryStorage;
    apcu_store('counter', 0);
    foreach ($identifiers as $identifier) {
        apcu_store($identifier, 0);
    }

    return [
        'loop' => function ($n) { for ($i = 0; $i < $n; $i++) { } },
        'pick' => function ($n) use ($many) { for ($i = 0; $i < $n; $i++) { $many[($i * 7919) % 100_000]; } },
        'native' => function ($n) use ($decision) { for ($i = 0; $i < $n; $i++) { $decision->isAccepted(); } },
        'spl' => function ($n) use ($array) { for ($i = 0; $i < $n; $i++) { $array->getSize(); } },
        'consume' => function ($n) use ($hot) { for ($i = 0; $i < $n; $i++) { $hot->consume(); } },
        'denied' => function ($n) use ($denied) { for ($i = 0; $i < $n; $i++) { $denied->consume(); } },
        'many' => function ($n) use ($many) { for ($i = 0; $i < $n; $i++) { $many[($i * 7919) % 100_000]->consume(); } },
        'attempt' => function ($n) use ($hot) { for ($i = 0; $i < $n; $i++) { $hot->attempt(); } },
        'held' => function ($n) use ($hot) { for ($i = 0; $i < $n; $i++) { $hot->attempt()->refund(); } },
        'settled' => function ($n) use ($hot) { for ($i = 0; $i < $n; $i++) { $hot->attempt()->settle(2); } },
        'leaving' => function ($n) use ($hot) { for ($i = 0; $i < $n; $i++) { $hot->attempt(1, 5); } },
        'first' => function ($n) use ($first) { for ($i = 0; $i < $n; $i++) { $first->attempt(); } },
        'fixed' => consume_window(new TokenBucket\FixedWindow(null, 'calls-fixed', 16_000_000, 31_536_000.0)),
        'calendar' => consume_window(new TokenBucket\CalendarWindow(null, 'calls-calendar', 16_000_000, 'year')),
        'three' => three_calls($three),
        'compound' => consume_compound($three),
        'permit' => acquire_and_release(null),
        'permit_fifth' => acquire_and_release(null, 4),
        'permit_denied' => acquire_denied(),
        'check' => function ($n) use ($hot) { for ($i = 0; $i < $n; $i++) { $hot->check('192.0.2.1', 10, 300); } },
        'new' => function ($n) { for ($i = 0; $i < $n; $i++) { (new TokenBucket(null, '192.0.2.1', 10, 1))->consume(); } },
        'new_dsn' => function ($n) { for ($i = 0; $i < $n; $i++) { (new TokenBucket('shm:', '192.0.2.1', 10, 1))->consume(); } },
        'new_object' => function ($n) use ($storage) { for ($i = 0; $i < $n; $i++) { (new TokenBucket($storage, '192.0.2.1', 10, 1))->consume(); } },
        'named' => function ($n) { for ($i = 0; $i < $n; $i++) { TokenBucket\limiter('login', '192.0.2.1')->consume(); } },
        // Three of the clients in scripts/test/clients-file.sh, and one that is not there.
        'named_numbers' => function ($n) { for ($i = 0; $i < $n; $i++) { TokenBucket\limiter('customers', 'customer 4711')->consume(); } },
        'named_network' => function ($n) { for ($i = 0; $i < $n; $i++) { TokenBucket\limiter('customers', '10.0.16.9')->consume(); } },
        'named_exempt' => function ($n) { for ($i = 0; $i < $n; $i++) { TokenBucket\limiter('customers', 'customer 100')->consume(); } },
        'named_other' => function ($n) { for ($i = 0; $i < $n; $i++) { TokenBucket\limiter('customers', '192.0.2.1')->consume(); } },
        'sliding_5' => consume_sliding(5),
        'sliding_5_denied' => denied_sliding(5),
        'sliding_100' => consume_sliding(100),
        'sliding_100_denied' => denied_sliding(100),
        'array' => function ($n) use ($in_process) { for ($i = 0; $i < $n; $i++) { $in_process->consume(); } },
        'plain' => function ($n) { for ($i = 0; $i < $n; $i++) { (new PlainBucket(null, '192.0.2.1', 10, 1))->consume(); } },
        'apcu_inc' => function ($n) { for ($i = 0; $i < $n; $i++) { apcu_inc('counter'); } },
        'apcu_many' => function ($n) use ($identifiers) { for ($i = 0; $i < $n; $i++) { apcu_inc($identifiers[($i * 7919) % 100_000]); } },
        'apcu_pair' => function ($n) { for ($i = 0; $i < $n; $i++) { apcu_store('counter', apcu_fetch('counter') + 1); } },
    ];
}

/** The rows of the table: a text, a case, and the case beside it. */
function memory_rows(): array
{
    return [
        ['an empty native method (`Decision::isAccepted()`)', 'native', null],
        ['an empty native method (`SplFixedArray::getSize()`)', 'spl', null],
        ['`consume()`, one hot bucket', 'consume', 'apcu_inc'],
        ['', 'consume', 'native'],
        ['`consume()`, denied', 'denied', 'consume'],
        // Without a ratio: it depends on the caches of the machine's host, and is another one in each run.
        ['`consume()`, 100,000 identifiers at random', 'many', null],
        ['`consume()` on `array:`', 'array', 'consume'],
        ['`attempt()`', 'attempt', 'apcu_pair'],
        ['`attempt()->refund()`', 'held', 'attempt'],
        ['`attempt()->settle()`', 'settled', 'attempt'],
        ['`attempt(1, leave: 5)`', 'leaving', 'attempt'],
        ['`FirstOf` of two, the first accepts, `attempt()`', 'first', 'attempt'],
        ['`CalendarWindow`, `consume()`', 'calendar', 'fixed'],
        ['`Compound` of three, `consume()`', 'compound', 'consume'],
        ['three `consume()`, one after the other', 'three', 'consume'],
        ['`SlidingWindow` of 5, `consume()`', 'sliding_5', 'consume'],
        ['`SlidingWindow` of 5, denied', 'sliding_5_denied', 'consume'],
        ['`SlidingWindow` of 100, `consume()`', 'sliding_100', 'consume'],
        ['`SlidingWindow` of 100, denied', 'sliding_100_denied', 'consume'],
        ['`ConcurrencyLimit` of five, `acquire()->release()`', 'permit', 'consume'],
        ['the same while four are held', 'permit_fifth', 'consume'],
        ['`acquire()` while this process holds all five', 'permit_denied', 'consume'],
        ['`check($ip, 10, 300)`', 'check', 'apcu_pair'],
        ['`new TokenBucket(null, ...)` and `consume()`', 'new', 'plain'],
        ["`new TokenBucket('shm:', ...)` and `consume()`", 'new_dsn', 'plain'],
        ['`new TokenBucket($storage, ...)` and `consume()`', 'new_object', 'plain'],
        ["`limiter('login', ...)` and `consume()`", 'named', 'new'],
        ['the same for a client with other numbers, among 100,000', 'named_numbers', 'named'],
        ['for a client in a network with other numbers', 'named_network', 'named'],
        ['for a client that is exempt', 'named_exempt', 'named'],
        ['for a client without a line', 'named_other', 'named'],
        ['a plain PHP object with the same constructor and one method', 'plain', null],
        ['`apcu_inc()`', 'apcu_inc', null],
        ['`apcu_inc()`, 100,000 keys at random', 'apcu_many', null],
        ['`apcu_fetch()` and `apcu_store()`', 'apcu_pair', null],
    ];
}

const MEMORY_NAMES = [
    'native' => 'an empty native method',
    'apcu_inc' => '`apcu_inc()`',
    'apcu_pair' => '`apcu_fetch()` and `apcu_store()`',
    'consume' => '`consume()`',
    'plain' => 'the plain object',
    'new' => '`new TokenBucket(null, ...)`',
    'named' => "`limiter('login', ...)`",
    'attempt' => '`attempt()`',
    'fixed' => '`FixedWindow`',
];
