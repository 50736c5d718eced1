--TEST--
Code that runs in the middle of a call, by an output callback, may construct the object again, release it, or throw
--FILE--
<?php
require __DIR__ . '/../utils.inc';
use TokenBucket\FixedWindow;
use TokenBucket\RedisStorage;

/** A server that refuses connections: each is an outage of its own, of which the first call warns. */
function refusing(): string
{
    static $n = 0;
    $n++;
    return "redis://127.1.$n." . random_int(1, 254) . ':1/?on_error=fallback';
}

/** Each of these runs in the middle of each of the calls, which hold the only reference to the bucket. */
$codes = [
    'constructs' => function () use (&$bucket) {
        $bucket->__construct('array:', 'other', 1, 1);
    },
    'lets go' => function () use (&$bucket) {
        $bucket = null;
        gc_collect_cycles();
    },
    'throws' => fn () => throw new DomainException('thrown'),
];
$calls = [
    'consume' => fn () => $GLOBALS['bucket']->consume(),
    'attempt' => fn () => $GLOBALS['bucket']->attempt()->getLimit(),
    'peek' => fn () => $GLOBALS['bucket']->peek()->getLimit(),
    'refund' => fn () => $GLOBALS['bucket']->refund(),
    'reset' => fn () => $GLOBALS['bucket']->reset(),
    'block' => fn () => $GLOBALS['bucket']->block(60),
    'reserve' => fn () => $GLOBALS['bucket']->reserve()->getLimit(),
    'take up to' => fn () => $GLOBALS['bucket']->takeUpTo(2)->getTokens(),
    'check' => fn () => $GLOBALS['bucket']->check(),
    'check an id' => fn () => $GLOBALS['bucket']->check('client'),
    // PHP's own complaint about an argument comes before any of ours.
    'an argument' => fn () => $GLOBALS['bucket']->consume('1.5'),
];
foreach ([TokenBucket::class, FixedWindow::class] as $class) {
    foreach ($codes as $what => $code) {
        foreach ($calls as $name => $call) {
            if ($class === FixedWindow::class && in_array($name, ['reserve', 'take up to', 'check', 'check an id'])) {
                continue;
            }
            $bucket = new $class($name === 'an argument' ? 'array:' : refusing(), 'x', 5, 10);
            try {
                $answer = json_encode(in_the_middle($code, $call, $ran));
            } catch (DomainException $e) {
                $answer = $e->getMessage();
            }
            echo "$class, code $what, $name: $answer", $ran === 1 ? "\n" : ", ran $ran times\n";
        }
    }
}

echo "A storage constructed again in the middle of consume() and bootstrap()\n";
$storage = new RedisStorage(refusing());
$constructs = fn () => $storage->__construct(refusing());
var_dump(in_the_middle($constructs, fn () => $storage->consume('x', 1, 10, null)));
var_dump(in_the_middle($constructs, fn () => $storage->consume('y', 1, 10, function () use ($constructs) {
    $constructs();
    return true;
})));
thrown(fn () => in_the_middle($constructs, fn () => $storage->consume('z', 1, 10, function () use ($constructs, $storage) {
    $constructs();
    $storage->bootstrap('z', 0);
    return true;
})));
?>
--EXPECT--
TokenBucket, code constructs, consume: true
TokenBucket, code constructs, attempt: 5
TokenBucket, code constructs, peek: 5
TokenBucket, code constructs, refund: true
TokenBucket, code constructs, reset: null
TokenBucket, code constructs, block: null
TokenBucket, code constructs, reserve: 5
TokenBucket, code constructs, take up to: 2
TokenBucket, code constructs, check: false
TokenBucket, code constructs, check an id: false
TokenBucket, code constructs, an argument: true
TokenBucket, code lets go, consume: true
TokenBucket, code lets go, attempt: 5
TokenBucket, code lets go, peek: 5
TokenBucket, code lets go, refund: true
TokenBucket, code lets go, reset: null
TokenBucket, code lets go, block: null
TokenBucket, code lets go, reserve: 5
TokenBucket, code lets go, take up to: 2
TokenBucket, code lets go, check: false
TokenBucket, code lets go, check an id: false
TokenBucket, code lets go, an argument: true
TokenBucket, code throws, consume: thrown
TokenBucket, code throws, attempt: thrown
TokenBucket, code throws, peek: thrown
TokenBucket, code throws, refund: thrown
TokenBucket, code throws, reset: thrown
TokenBucket, code throws, block: thrown
TokenBucket, code throws, reserve: thrown
TokenBucket, code throws, take up to: thrown
TokenBucket, code throws, check: thrown
TokenBucket, code throws, check an id: thrown
TokenBucket, code throws, an argument: thrown
TokenBucket\FixedWindow, code constructs, consume: true
TokenBucket\FixedWindow, code constructs, attempt: 5
TokenBucket\FixedWindow, code constructs, peek: 5
TokenBucket\FixedWindow, code constructs, refund: true
TokenBucket\FixedWindow, code constructs, reset: null
TokenBucket\FixedWindow, code constructs, block: null
TokenBucket\FixedWindow, code constructs, an argument: true
TokenBucket\FixedWindow, code lets go, consume: true
TokenBucket\FixedWindow, code lets go, attempt: 5
TokenBucket\FixedWindow, code lets go, peek: 5
TokenBucket\FixedWindow, code lets go, refund: true
TokenBucket\FixedWindow, code lets go, reset: null
TokenBucket\FixedWindow, code lets go, block: null
TokenBucket\FixedWindow, code lets go, an argument: true
TokenBucket\FixedWindow, code throws, consume: thrown
TokenBucket\FixedWindow, code throws, attempt: thrown
TokenBucket\FixedWindow, code throws, peek: thrown
TokenBucket\FixedWindow, code throws, refund: thrown
TokenBucket\FixedWindow, code throws, reset: thrown
TokenBucket\FixedWindow, code throws, block: thrown
TokenBucket\FixedWindow, code throws, an argument: thrown
A storage constructed again in the middle of consume() and bootstrap()
bool(true)
bool(true)
LogicException: bootstrap() must be called by the closure that was passed to consume(); a bucket without a record is full
