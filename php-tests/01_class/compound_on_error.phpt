--TEST--
Compound: each limit has its own policy while its store fails, and an exception leaves nothing charged
--FILE--
<?php
use TokenBucket\{Compound, FixedWindow, Limiter};
require dirname(__DIR__) . '/utils.inc';
require dirname(__DIR__) . '/servers.inc';

run_apart(__FILE__); // its outages are many

/** A server that refuses connections: each is an outage of its own. */
function refusing(string $policy): string
{
    static $n = 0;
    $n++;
    return "redis://127.3.$n." . random_int(1, 254) . ":1/?on_error=$policy";
}
function left(Limiter ...$limiters): string
{
    return implode(' ', array_map(fn (Limiter $limiter): int => @$limiter->peek(0)->getRemainingTokens(), $limiters));
}
foreach (['fallback', 'open', 'closed', 'throw'] as $policy) {
    foreach ([true, false] as $is_first) {
        $id = bin2hex(random_bytes(8));
        $local = TokenBucket::per('shm:', "local:$id", 5, 3600);
        $remote = new FixedWindow(refusing($policy), "remote:$id", 3, 3600);
        $last = TokenBucket::per('array:', "last:$id", 4, 3600);
        $compound = $is_first ? new Compound($remote, $local, $last) : new Compound($local, $remote, $last);
        echo $policy, $is_first ? ' first: ' : ' in the middle: ';
        $warnings = warnings(function () use ($compound, $local, $last): void {
            try {
                $decision = $compound->attempt();
                echo json_encode([$decision->isAccepted(), $decision->isDegraded(), $decision->getTokens(), $decision->getDeniedBy()]), ' ', left($local, $last), ', ';
                for ($answers = ''; strlen($answers) < 4; $answers .= (int) $compound->consume()) {
                }
                echo $answers, ' ', left($local, $last), ', ', json_encode($decision->refund()), ' ', left($local, $last);
            } catch (TokenBucket\StorageException $e) {
                echo preg_replace('/\d+\.\d+\.\d+\.\d+/', 'HOST', $e->getMessage()), ' ', left($local, $last);
                try {
                    $compound->consume();
                } catch (TokenBucket\StorageException) {
                    echo ', again ', left($local, $last);
                }
            }
        });
        echo ', ', count($warnings), " warnings\n";
    }
}

// What runs in the middle of a call leaves the call as it was.
$codes = [
    'constructs' => fn () => $GLOBALS['compound']->__construct(TokenBucket::per('array:', 'other', 1, 1)),
    'lets go' => function () {
        $GLOBALS['compound'] = null;
        gc_collect_cycles();
    },
    'uses it' => fn () => $GLOBALS['compound']->consume(),
    'throws' => fn () => throw new DomainException('thrown'),
];
$calls = [
    'consume' => fn () => $GLOBALS['compound']->consume(),
    'attempt' => fn () => $GLOBALS['compound']->attempt()->getLimit(),
    'peek' => fn () => $GLOBALS['compound']->peek()->getLimit(),
    'refund' => fn () => $GLOBALS['compound']->refund(),
    'reset' => fn () => $GLOBALS['compound']->reset(),
    'block' => fn () => $GLOBALS['compound']->block(60),
    // PHP's own warning about an argument comes before any of ours.
    'an argument' => fn () => $GLOBALS['compound']->consume('1.5'),
];
foreach ($codes as $what => $code) {
    foreach ($calls as $name => $call) {
        $id = bin2hex(random_bytes(8));
        $compound = new Compound(TokenBucket::per('array:', $id, 9, 3600), new FixedWindow($name === 'an argument' ? 'array:' : refusing('fallback'), $id, 7, 3600), new FixedWindow('shm:', $id, 8, 3600));
        echo "code $what, $name: ";
        try {
            echo json_encode(in_the_middle($code, $call, $ran));
        } catch (DomainException $e) {
            echo $e->getMessage();
        }
        echo $ran === 1 ? '' : ", ran $ran times";
        echo ', left ', left(TokenBucket::per('array:', $id, 9, 3600), new FixedWindow('shm:', $id, 8, 3600)), "\n";
    }
}
?>
--EXPECT--
fallback first: [true,true,1,[]] 4 3, 1100 2 1, true 3 2, 1 warnings
fallback in the middle: [true,true,1,[]] 4 3, 1100 2 1, true 3 2, 1 warnings
open first: [true,true,1,[]] 4 3, 1110 1 0, true 2 1, 1 warnings
open in the middle: [true,true,1,[]] 4 3, 1110 1 0, true 2 1, 1 warnings
closed first: [false,true,0,["remote"]] 5 4, 0000 5 4, false 5 4, 1 warnings
closed in the middle: [false,true,0,["remote"]] 5 4, 0000 5 4, false 5 4, 1 warnings
throw first: Redis at HOST:1: cannot connect: Connection refused (os error 111) 5 4, again 5 4, 0 warnings
throw in the middle: Redis at HOST:1: cannot connect: Connection refused (os error 111) 5 4, again 5 4, 0 warnings
code constructs, consume: true, left 8 7
code constructs, attempt: 7, left 8 7
code constructs, peek: 7, left 9 8
code constructs, refund: true, left 9 8
code constructs, reset: null, left 9 8
code constructs, block: null, left 0 0
code constructs, an argument: true, left 8 7
code lets go, consume: true, left 8 7
code lets go, attempt: 7, left 8 7
code lets go, peek: 7, left 9 8
code lets go, refund: true, left 9 8
code lets go, reset: null, left 9 8
code lets go, block: null, left 0 0
code lets go, an argument: true, left 8 7
code uses it, consume: true, left 7 6
code uses it, attempt: 7, left 7 6
code uses it, peek: 7, left 8 7
code uses it, refund: true, left 8 7
code uses it, reset: null, left 8 7
code uses it, block: null, left 0 0
code uses it, an argument: true, left 7 6
code throws, consume: thrown, left 8 7
code throws, attempt: thrown, left 8 7
code throws, peek: thrown, left 9 8
code throws, refund: thrown, left 9 8
code throws, reset: thrown, left 9 8
code throws, block: thrown, left 0 0
code throws, an argument: thrown, left 9 8
