--TEST--
Redis: refund() of a decision and renew() return null while it is not known what a stalled server did, and it did it
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.deny_cache=0
token_bucket.timeout_ms=1000
token_bucket.connect_timeout_ms=1000
--FILE--
<?php
require dirname(__DIR__, 2) . '/servers.inc';
use TokenBucket\{Compound, ConcurrencyLimit, FixedWindow};

function answer(callable $call): string
{
    try {
        return json_encode(@$call());
    } catch (TokenBucket\StorageException $e) {
        return $e::class;
    }
}

foreach (['fallback', 'open', 'closed', 'throw'] as $policy) {
    foreach ([1, 0] as $enforce) {
        $server = new Server('redis');
        $dsn = $server->dsn("on_error=$policy&enforce=$enforce");
        $bucket = TokenBucket::per($dsn, 'x', 10, 3600);
        [$stalled, $not_asked] = [$bucket->attempt(3), $bucket->attempt(2)];
        $permit = (new ConcurrencyLimit($dsn, 'y', 1, 60))->acquire();
        $server->signal(SIGSTOP);
        echo "$policy, enforce=$enforce: refund() ", answer($stalled->refund(...)), ', once more ', answer($stalled->refund(...)), ', renew() ', answer(fn () => $permit->renew(30));
        // These two have opened the breaker: the server is not asked, and so it does nothing.
        echo '; not asked: refund() ', answer($not_asked->refund(...)), ', renew() ', answer($permit->renew(...));
        $server->signal(SIGCONT);
        $plain = TokenBucket::per($server->dsn(), 'x', 10, 3600);
        wait_until_back($plain);
        echo '; ', $plain->peek()->getRemainingTokens(), ' left, ', (new ConcurrencyLimit($server->dsn(), 'y', 1, 60))->getActive(), " held\n";
        unset($permit);
    }
}

// A Compound of which only one limit's server stalls: what is known to be given back counts.
$server = new Server('redis');
foreach (['array:' => 'known', 'fixed window that was reset' => 'unknown'] as $other => $what) {
    $own = $other === 'array:' ? TokenBucket::per('array:', 'z', 10, 3600) : new FixedWindow('array:', 'z', 10, 3600);
    $decision = (new Compound(TokenBucket::per($server->dsn(), $what, 10, 3600), $own))->attempt();
    $other === 'array:' || $own->reset();
    $server->signal(SIGSTOP);
    echo "$what: ", answer($decision->refund(...)), "\n";
    $server->signal(SIGCONT);
    wait_until_back(TokenBucket::per($server->dsn(), 'probe', 10, 3600));
}
?>
--EXPECT--
fallback, enforce=1: refund() null, once more false, renew() null; not asked: refund() false, renew() null; 8 left, 1 held
fallback, enforce=0: refund() null, once more false, renew() true; not asked: refund() false, renew() true; 8 left, 1 held
open, enforce=1: refund() null, once more false, renew() true; not asked: refund() false, renew() true; 8 left, 1 held
open, enforce=0: refund() null, once more false, renew() true; not asked: refund() false, renew() true; 8 left, 1 held
closed, enforce=1: refund() null, once more false, renew() null; not asked: refund() false, renew() null; 8 left, 1 held
closed, enforce=0: refund() null, once more false, renew() true; not asked: refund() false, renew() true; 8 left, 1 held
throw, enforce=1: refund() TokenBucket\StorageException, once more false, renew() TokenBucket\StorageException; not asked: refund() TokenBucket\StorageException, renew() TokenBucket\StorageException; 8 left, 1 held
throw, enforce=0: refund() null, once more false, renew() true; not asked: refund() false, renew() true; 8 left, 1 held
known: true
unknown: null
