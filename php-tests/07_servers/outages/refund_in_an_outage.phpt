--TEST--
Decision: refund(): while a server is stopped and afterwards, what was taken goes back to where it was taken
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.deny_cache=0
token_bucket.timeout_ms=1000
token_bucket.connect_timeout_ms=1000
--FILE--
<?php
require dirname(__DIR__, 2) . '/utils.inc';
require dirname(__DIR__, 2) . '/servers.inc';
use TokenBucket\{Compound, Decision, FixedWindow, Limiter};

function left(Limiter $limiter): string
{
    $decision = @$limiter->peek(0);
    return $decision->getRemainingTokens() . ($decision->isDegraded() ? ' by policy' : '');
}
function refunded(Decision $decision): string
{
    try {
        return json_encode($decision->refund());
    } catch (TokenBucket\StorageException $e) {
        return $e::class;
    }
}
/** A stopped server keeps its buckets and answers no call. */
$stopped = function (Server $server, callable $work): void {
    $server->signal(SIGSTOP);
    $work();
    $server->signal(SIGCONT);
};
$kinds = [
    'bucket' => fn (string $dsn) => TokenBucket::per($dsn, 'x', 10, 3600),
    'window' => fn (string $dsn) => new FixedWindow($dsn, 'x', 10, 3600),
    'compound' => fn (string $dsn) => new Compound(TokenBucket::per($dsn, 'y', 10, 3600), new FixedWindow($dsn, 'y', 11, 3600)),
    'compound of two stores' => fn (string $dsn) => new Compound(TokenBucket::per($dsn, 'z', 10, 3600), new FixedWindow('array:', "z:$dsn", 100, 3600)),
];
foreach (['redis', 'memcached'] as $server_kind) {
    foreach (['fallback', 'open', 'closed'] as $policy) {
        $server = new Server($server_kind);
        $dsn = $server->dsn("on_error=$policy");
        $probe = new TokenBucket($dsn, 'probe', 1, 1);
        $limiters = array_map(fn (callable $make): Limiter => $make($dsn), $kinds);
        $lines = [];
        $taken = [];
        foreach ($limiters as $kind => $limiter) {
            // One is given back before the outage, one in it, one afterwards.
            $taken[$kind] = [$before, , ] = [$limiter->attempt(1), $limiter->attempt(2), $limiter->attempt(3)];
            $lines[$kind] = refunded($before) . ' ' . left($limiter);
        }
        $own = [];
        $stopped($server, function () use ($limiters, $taken, &$lines, &$own, $dsn): void {
            warning_of_outage($dsn);
            foreach ($limiters as $kind => $limiter) {
                $own[$kind] = $limiter->attempt(4);
                $second = $limiter->attempt(2);
                $lines[$kind] .= ' | ' . json_encode([$own[$kind]->isDegraded(), $own[$kind]->getTokens()]) . ' ' . left($limiter) . ' ' . refunded($second) . ' '
                    . refunded($second) . ' ' . left($limiter) . ' ' . refunded($taken[$kind][1]);
            }
        });
        wait_until_back($probe);
        foreach ($limiters as $kind => $limiter) {
            // What the policy gave does not go to the server.
            echo "$server_kind $policy, $kind: $lines[$kind] | ", refunded($own[$kind]), ' ', left($limiter), ' ', refunded($taken[$kind][2]), ' ', left($limiter), ' ', refunded($taken[$kind][1]), "\n";
        }
        if ($policy === 'fallback') {
            $server->kill();
            echo 'back on this host: ', implode(', ', array_map(left(...), $limiters)), "\n";
        }
    }

    // An exception; a refund that failed cannot be tried again, for it may have arrived.
    $server = new Server($server_kind);
    $bucket = TokenBucket::per($server->dsn('on_error=throw&timeout_ms=5000&connect_timeout_ms=5000'), 'x', 10, 3600);
    [$decision, $later] = [$bucket->attempt(3), $bucket->attempt(2)];
    $server->kill();
    echo "$server_kind throw: ", refunded($decision), ' ', refunded($decision), ' ', refunded($later), "\n";
}

// A call that the server refuses warns, whatever it is; what runs in the middle of it changes nothing.
$codes = [
    'refunds again' => function () use (&$again): void {
        $again = $GLOBALS['decision']->refund();
    },
    'lets go' => function () {
        $GLOBALS['decision'] = $GLOBALS['limiter'] = null;
        gc_collect_cycles();
    },
    'constructs' => fn () => $GLOBALS['limiter']->__construct('array:', 'other', 1, 1),
    'throws' => fn () => throw new DomainException('thrown'),
];
foreach ($codes as $what => $code) {
    $server = new Server('redis');
    $limiter = TokenBucket::per($server->dsn('on_error=closed&timeout_ms=5000&connect_timeout_ms=5000'), 'x', 10, 3600);
    $decision = $limiter->attempt(3);
    $server->ask('ACL SETUSER default -eval -evalsha');
    $again = null;
    error_clear_last();
    try {
        $answer = json_encode(in_the_middle($code, fn () => $GLOBALS['decision']->refund()));
    } catch (DomainException $e) {
        $answer = $e->getMessage() . ' ' . json_encode($decision->refund());
    }
    echo "code $what: ", strstr(error_get_last()['message'], ' Redis', true), ' ', $again === null ? '' : '[' . json_encode($again) . '] ', $answer, "\n";
}
?>
--EXPECT--
redis fallback, bucket: true 5 | [true,4] 4 by policy true false 6 by policy false | true 5 true 8 false
redis fallback, window: true 5 | [true,4] 4 by policy true false 6 by policy false | true 5 true 8 false
redis fallback, compound: true 5 | [true,4] 4 by policy true false 6 by policy false | true 5 true 8 false
redis fallback, compound of two stores: true 5 | [true,4] 4 by policy true false 6 by policy true | true 5 true 8 false
back on this host: 10 by policy, 10 by policy, 10 by policy, 10 by policy
redis open, bucket: true 5 | [true,4] 10 by policy false false 10 by policy false | false 5 true 8 false
redis open, window: true 5 | [true,4] 10 by policy false false 10 by policy false | false 5 true 8 false
redis open, compound: true 5 | [true,4] 10 by policy false false 10 by policy false | false 5 true 8 false
redis open, compound of two stores: true 5 | [true,4] 10 by policy true false 10 by policy true | true 5 true 8 false
redis closed, bucket: true 5 | [true,0] 0 by policy false false 0 by policy false | false 5 true 8 false
redis closed, window: true 5 | [true,0] 0 by policy false false 0 by policy false | false 5 true 8 false
redis closed, compound: true 5 | [true,0] 0 by policy false false 0 by policy false | false 5 true 8 false
redis closed, compound of two stores: true 5 | [true,0] 0 by policy false false 0 by policy true | false 5 true 8 false
redis throw: TokenBucket\StorageException false TokenBucket\StorageException
memcached fallback, bucket: true 5 | [true,4] 4 by policy true false 6 by policy false | true 5 true 8 false
memcached fallback, window: true 5 | [true,4] 4 by policy true false 6 by policy false | true 5 true 8 false
memcached fallback, compound: true 5 | [true,4] 4 by policy true false 6 by policy false | true 5 true 8 false
memcached fallback, compound of two stores: true 5 | [true,4] 4 by policy true false 6 by policy true | true 5 true 8 false
back on this host: 10 by policy, 10 by policy, 10 by policy, 10 by policy
memcached open, bucket: true 5 | [true,4] 10 by policy false false 10 by policy false | false 5 true 8 false
memcached open, window: true 5 | [true,4] 10 by policy false false 10 by policy false | false 5 true 8 false
memcached open, compound: true 5 | [true,4] 10 by policy false false 10 by policy false | false 5 true 8 false
memcached open, compound of two stores: true 5 | [true,4] 10 by policy true false 10 by policy true | true 5 true 8 false
memcached closed, bucket: true 5 | [true,0] 0 by policy false false 0 by policy false | false 5 true 8 false
memcached closed, window: true 5 | [true,0] 0 by policy false false 0 by policy false | false 5 true 8 false
memcached closed, compound: true 5 | [true,0] 0 by policy false false 0 by policy false | false 5 true 8 false
memcached closed, compound of two stores: true 5 | [true,0] 0 by policy false false 0 by policy true | false 5 true 8 false
memcached throw: TokenBucket\StorageException false TokenBucket\StorageException
code refunds again: TokenBucket\Decision::refund(): [false] null
code lets go: TokenBucket\Decision::refund(): null
code constructs: TokenBucket\Decision::refund(): null
code throws: TokenBucket\Decision::refund(): thrown false
