--TEST--
An error handler in the middle of a call may construct the object again, release it, or throw
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

/** Each of these handlers runs in the midst of each of the calls, which hold the only reference to the bucket. */
$handlers = [
    'constructs' => function () use (&$bucket) {
        $bucket->__construct('array:', 'other', 1, 1);
        return true;
    },
    'lets go' => function () use (&$bucket) {
        $bucket = null;
        gc_collect_cycles();
        return true;
    },
    'throws' => fn ($level, $message) => throw new DomainException('handler: ' . strtok($message, '( ')),
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
    foreach ($handlers as $what => $handler) {
        foreach ($calls as $name => $call) {
            if ($class === FixedWindow::class && in_array($name, ['reserve', 'take up to', 'check', 'check an id'])) {
                continue;
            }
            $bucket = new $class($name === 'an argument' ? 'array:' : refusing(), 'x', 5, 10);
            $ran = 0;
            set_error_handler(function (...$arguments) use ($handler, &$ran) {
                $ran++;
                restore_error_handler();
                return $handler(...$arguments);
            });
            echo "$class, handler $what, $name: ";
            try {
                echo json_encode($call());
            } catch (DomainException $e) {
                echo $e->getMessage();
            }
            echo $ran === 1 ? "\n" : ", ran $ran times\n";
            $ran || restore_error_handler();
        }
    }
}

echo "A storage constructed again in the midst of consume() and bootstrap()\n";
$storage = new RedisStorage(refusing());
set_error_handler(function () use ($storage) {
    $storage->__construct(refusing());
    return true;
});
var_dump($storage->consume('x', 1, 10, null));
var_dump($storage->consume('y', 1, 10, function () use ($storage) {
    $storage->__construct(refusing());
    return true;
}));
thrown(fn () => $storage->consume('z', 1, 10, function () use ($storage) {
    $storage->__construct(refusing());
    $storage->bootstrap('z', 0);
    return true;
}));
?>
--EXPECT--
TokenBucket, handler constructs, consume: true
TokenBucket, handler constructs, attempt: 5
TokenBucket, handler constructs, peek: 5
TokenBucket, handler constructs, refund: null
TokenBucket, handler constructs, reset: null
TokenBucket, handler constructs, block: null
TokenBucket, handler constructs, reserve: 5
TokenBucket, handler constructs, take up to: 2
TokenBucket, handler constructs, check: false
TokenBucket, handler constructs, check an id: false
TokenBucket, handler constructs, an argument: true
TokenBucket, handler lets go, consume: true
TokenBucket, handler lets go, attempt: 5
TokenBucket, handler lets go, peek: 5
TokenBucket, handler lets go, refund: null
TokenBucket, handler lets go, reset: null
TokenBucket, handler lets go, block: null
TokenBucket, handler lets go, reserve: 5
TokenBucket, handler lets go, take up to: 2
TokenBucket, handler lets go, check: false
TokenBucket, handler lets go, check an id: false
TokenBucket, handler lets go, an argument: true
TokenBucket, handler throws, consume: handler: TokenBucket::consume
TokenBucket, handler throws, attempt: handler: TokenBucket::attempt
TokenBucket, handler throws, peek: handler: TokenBucket::peek
TokenBucket, handler throws, refund: handler: TokenBucket::refund
TokenBucket, handler throws, reset: handler: TokenBucket::reset
TokenBucket, handler throws, block: handler: TokenBucket::block
TokenBucket, handler throws, reserve: handler: TokenBucket::reserve
TokenBucket, handler throws, take up to: handler: TokenBucket::takeUpTo
TokenBucket, handler throws, check: handler: TokenBucket::check
TokenBucket, handler throws, check an id: handler: TokenBucket::check
TokenBucket, handler throws, an argument: handler: Implicit
TokenBucket\FixedWindow, handler constructs, consume: true
TokenBucket\FixedWindow, handler constructs, attempt: 5
TokenBucket\FixedWindow, handler constructs, peek: 5
TokenBucket\FixedWindow, handler constructs, refund: null
TokenBucket\FixedWindow, handler constructs, reset: null
TokenBucket\FixedWindow, handler constructs, block: null
TokenBucket\FixedWindow, handler constructs, an argument: true
TokenBucket\FixedWindow, handler lets go, consume: true
TokenBucket\FixedWindow, handler lets go, attempt: 5
TokenBucket\FixedWindow, handler lets go, peek: 5
TokenBucket\FixedWindow, handler lets go, refund: null
TokenBucket\FixedWindow, handler lets go, reset: null
TokenBucket\FixedWindow, handler lets go, block: null
TokenBucket\FixedWindow, handler lets go, an argument: true
TokenBucket\FixedWindow, handler throws, consume: handler: TokenBucket\FixedWindow::consume
TokenBucket\FixedWindow, handler throws, attempt: handler: TokenBucket\FixedWindow::attempt
TokenBucket\FixedWindow, handler throws, peek: handler: TokenBucket\FixedWindow::peek
TokenBucket\FixedWindow, handler throws, refund: handler: TokenBucket\FixedWindow::refund
TokenBucket\FixedWindow, handler throws, reset: handler: TokenBucket\FixedWindow::reset
TokenBucket\FixedWindow, handler throws, block: handler: TokenBucket\FixedWindow::block
TokenBucket\FixedWindow, handler throws, an argument: handler: Implicit
A storage constructed again in the midst of consume() and bootstrap()
bool(true)
bool(true)
LogicException: bootstrap() must be called by the closure that was passed to consume(); a bucket without a record is full
