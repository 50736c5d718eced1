--TEST--
enforce=0: a dry run decides and counts every call, and denies none
--FILE--
<?php
use TokenBucket\{FixedWindow, LeakyBucket, SlidingWindow, TestClock};
use function TokenBucket\statistics;
require dirname(__DIR__) . '/utils.inc';
require dirname(__DIR__) . '/02_storages/php_storage.inc';
run_apart(__FILE__);
TestClock::freeze(1_000);

$told = fn (bool $accepted) => $accepted ? 'in' : 'out';
foreach (['shm:watch?enforce=off', 'shm:force?enforce=1'] as $dsn) {
    $bucket = new TokenBucket($dsn, 'watched:x', 2, 1);
    echo $told($bucket->consume()), ' ', $told($bucket->consume(5)), ' ', $told($bucket->consume()), ' ', $told($bucket->consume());
    foreach ([$bucket->attempt(), $bucket->peek(), $bucket->reserve(1, 0)] as $decision) {
        echo ' | ', $told($decision->isAccepted()), $decision->wouldDeny() ? ' would deny' : '', ' ',
            $decision->getRetryAfter(), ' ', $decision->getWait(), ' ', $decision->getRemainingTokens();
    }
    echo "\n";
    // What is denied is the same, so are the tokens.
    TestClock::advance(1);
    $decision = $bucket->attempt();
    echo json_encode($decision), "\n";
    $check = new TokenBucket($dsn, 'watched');
    echo implode(' ', array_map(fn () => $check->check('y', 2, 60) ? 'limited' : 'free', range(1, 4))), "\n";
    foreach ([LeakyBucket::class, FixedWindow::class, SlidingWindow::class] as $class) {
        $meter = new $class($dsn, "watched:$class", 1, 60);
        echo $told($meter->consume()), ' ', $told($meter->consume()), ' ', json_encode($meter->attempt()->wouldDeny()), "\n";
    }
}

// The directive, for what says nothing of its own; a storage written in PHP has nothing else.
ini_set('token_bucket.enforce', '0');
foreach (['array:', 'array:?enforce=1', new MemoryStorage] as $storage) {
    $bucket = new TokenBucket($storage, is_string($storage) ? "ini:$storage" : 'ini:x', 1, 0.001, name: is_string($storage) ? $storage : 'php');
    echo $told($bucket->consume()), ' ', $told($bucket->consume()), ' ', json_encode($bucket->attempt()->wouldDeny()), "\n";
}
$decision = (new TokenBucket(new MemoryStorage, 'ini:x', 1, 0.001))->attempt(2);
echo json_encode([$decision->isAccepted(), $decision->wouldDeny(), $decision->getRetryAfter()]), "\n";
foreach (['array:', 'array:?enforce=1', 'php'] as $name) {
    echo implode(' ', array_slice(statistics()[$name], 0, 4)), ' ', json_encode(statistics()[$name]['most_denied']), "\n";
}
// A reservation need not wait, and a store that fails harms nobody.
$watched = new TokenBucket('array:?enforce=0', 'wait:x', 1, 0.1);
$watched->consume();
echo $watched->reserve()->getWait(), ' ', json_encode($watched->reserve(1, 0)), "\n";
ini_set('token_bucket.enforce', '1');
foreach (['redis://127.0.0.1:1?on_error=throw&enforce=0', 'redis://127.0.0.1:2?on_error=closed&enforce=0'] as $dsn) {
    $bucket = new TokenBucket($dsn, 'x', 1, 1, name: $dsn);
    echo $told(@$bucket->consume()), ' ', json_encode($bucket->attempt()), ' ', $told(!$bucket->check()), ' ',
        implode(' ', array_slice(statistics()[$dsn], 0, 7)), "\n";
}
var_dump(ini_set('token_bucket.enforce', 'maybe'));
thrown(fn () => new TokenBucket('shm:?enforce=', 'x', 1, 1));
?>
--EXPECTF--
in in in in | in would deny 0 0 0 | in would deny 0 0 0 | in would deny 0 0 0
{"accepted":true,"limit":2,"remaining_tokens":0,"retry_after":0,"reset_after":2,"wait":0,"degraded":false,"would_deny":false,"exempt":false}
free free free free
in in true
in in true
in in true
in out in out | out would deny 1 0 0 | out would deny 1 0 0 | out would deny 1 0 0
{"accepted":true,"limit":2,"remaining_tokens":0,"retry_after":0,"reset_after":2,"wait":0,"degraded":false,"would_deny":false,"exempt":false}
free free limited limited
in out true
in out true
in out true
in in true
in out true
in in true
[true,true,0]
3 3 0 2 {"ini:array:":2}
3 1 2 0 {"ini:array:?enforce=1":2}
3 3 0 2 {"ini:x":2}
0 {"accepted":true,"limit":1,"remaining_tokens":0,"retry_after":0,"reset_after":20,"wait":0,"degraded":false,"would_deny":true,"exempt":false}
in {"accepted":true,"limit":1,"remaining_tokens":1,"retry_after":0,"reset_after":0,"wait":0,"degraded":true,"would_deny":false,"exempt":false} in 0 0 0 0 3 0 0
in {"accepted":true,"limit":1,"remaining_tokens":0,"retry_after":0,"reset_after":0,"wait":0,"degraded":true,"would_deny":true,"exempt":false} in 3 3 0 3 1 0 3

Warning: ini_set(): token_bucket.enforce must be 0, 1, off or on, "maybe" given; "1" stays in force in %s on line %d
bool(false)
TokenBucket\ConfigurationException: DSN parameter "enforce" must be 0, 1, off or on
