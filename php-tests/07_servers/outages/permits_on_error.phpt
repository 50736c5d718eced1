--TEST--
Redis: on_error answers for permits while a server is down, with one warning; a permit goes back to where it was taken
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
use TokenBucket\ConcurrencyLimit;
use function TokenBucket\statistics;
require dirname(__DIR__, 2) . '/utils.inc';
require dirname(__DIR__, 2) . '/servers.inc';
require dirname(__DIR__, 2) . '/permit_process.inc';

run_apart(__FILE__);

function told(callable $call): mixed
{
    try {
        return $call();
    } catch (TokenBucket\StorageException $e) {
        return preg_replace(['/ at [0-9.:]+/', '/( failed a moment).*/'], ['', '$1'], $e->getMessage());
    }
}

foreach (['fallback', 'open', 'closed', 'throw'] as $policy) {
    foreach ([1, 0] as $enforce) {
        $server = new Server('redis');
        $dsn = $server->dsn("on_error=$policy&enforce=$enforce&timeout_ms=1000");
        $name = "$policy-$enforce-" . getmypid();
        $limit = new ConcurrencyLimit($dsn, $name, 2, 60, $name);
        [$first, $second] = [$limit->acquire(), $limit->acquire()];
        $server->kill();
        $warning = warning_of_outage($server->dsn('on_error=' . ($policy === 'throw' ? 'open' : $policy)));
        $down = $warnings = [];
        $warnings = warnings(function () use ($limit, $first, $second, &$down, &$held): void {
            $down[] = told(fn () => $first->renew());
            $down[] = told(fn () => $second->release());
            for ($i = 0; $i < 3; $i++) {
                $down[] = told(function () use ($limit, &$held, $i) {
                    return ($held[$i] = $limit->acquire()) !== null;
                });
            }
            $down[] = told(fn () => $limit->getActive());
            $down[] = told(fn () => ($held[0] ?? null)?->renew());
            $down[] = told(fn () => ($held[0] ?? null)?->release());
            $down[] = told(fn () => $limit->getActive());
            unset($held[0]);
        });
        echo "$policy, enforce=$enforce: ", json_encode($down), "\n";
        echo implode("\n", [$warning, ...$warnings]), "\n";
        // What is held elsewhere is not given back to the server, which has lost its permits by now.
        $server->start();
        comes_true(function () use ($limit, $server): bool {
            @told(fn () => $limit->getActive());
            return str_contains($server->ask('INFO commandstats'), 'evalsha') || str_contains($server->ask('INFO commandstats'), 'cmdstat_eval');
        });
        $again = $limit->acquire();
        echo 'up again: ', json_encode([$limit->getActive(), $first->renew(), $again->renew()]);
        $held = null;
        unset($first);
        echo ' ', $limit->getActive();
        unset($again);
        echo ' ', $limit->getActive(), "\n";
        echo json_encode(array_slice(statistics()[$name], 0, 7)), "\n";
    }
}

// The permits of fallback are this host's: processes share them, and those of a process that dies are free at once.
$dsn = 'redis://127.0.0.1:1';
[$a, $b] = [new PermitProcess($dsn, 2), new PermitProcess($dsn, 2)];
echo 'fallback: ', $a->ask_all('acquire', 'acquire', 'acquire', 'active'), ', ', $b->ask_all('acquire', 'active');
$a->kill();
echo ', then ', $b->ask_all('acquire', 'active'), "\n";
echo 'another server: ', (new PermitProcess('redis://127.0.0.1:2', 2))->ask_all('active', 'acquire', 'acquire'), "\n";

// Without shared memory each process has its own.
$php = escapeshellarg(PHP_BINARY) . ' -n ' . getenv('TEST_PHP_EXTRA_ARGS') . ' -d token_bucket.shm_path=/nowhere -d display_errors=1 -d html_errors=0 -r ';
$code = '$l = new TokenBucket\ConcurrencyLimit("redis://127.0.0.1:1", "x", 2); $p = [@$l->acquire(), $l->acquire(), $l->acquire()]; echo json_encode([is_object($p[1]), $p[2], $l->getActive(), $p[0]->renew()]); $p = null; echo " ", $l->getActive(), "\n";
    try { $_ = (new TokenBucket\ConcurrencyLimit("shm:", "x", 2))->acquire(); } catch (TokenBucket\StorageException $e) { echo $e->getMessage(), "\n"; }';
passthru($php . escapeshellarg($code));

// What runs in the middle of a call may drop the permit, construct the limit again, or throw.
foreach (['drops' => fn () => $GLOBALS['permit'] = null, 'constructs' => fn () => $GLOBALS['limit']->__construct('array:', 'new', 1), 'throws' => fn () => throw new DomainException('thrown')] as $what => $code) {
    foreach (['acquire', 'getActive', 'reset', 'renew', 'release'] as $call) {
        $server = new Server('redis');
        $limit = new ConcurrencyLimit($server->dsn('timeout_ms=1000'), 'middle', 1);
        $permit = $limit->acquire();
        $server->ask('ACL SETUSER default -eval -evalsha');
        try {
            $answer = json_encode(in_the_middle($code, fn () => in_array($call, ['renew', 'release']) ? $GLOBALS['permit']->$call() : $GLOBALS['limit']->$call(), $ran));
        } catch (DomainException $e) {
            $answer = $e->getMessage();
        }
        echo "$what, $call: $answer, ran $ran; ", (new ConcurrencyLimit($server->dsn(), 'middle', 1))->getActive(), " of the host's held\n";
        $answer = null;
    }
}
?>
--EXPECT--
fallback, enforce=1: [null,null,true,true,false,2,true,null,1]
TokenBucket::peek(): Redis at 127.0.0.1:PORT: cannot connect: Connection refused (os error 111); until a call succeeds, limits are enforced in this host's shared memory
up again: [1,false,true] 1 0
{"checked":6,"accepted":5,"denied":1,"would_deny":0,"errors":0,"busy":0,"degraded":3}
fallback, enforce=0: [true,null,true,true,true,2,true,null,1]
TokenBucket::peek(): Redis at 127.0.0.1:PORT: cannot connect: Connection refused (os error 111); until a call succeeds, limits are enforced in this host's shared memory
up again: [1,true,true] 1 0
{"checked":6,"accepted":6,"denied":0,"would_deny":1,"errors":0,"busy":0,"degraded":3}
open, enforce=1: [true,null,true,true,true,0,true,null,0]
TokenBucket::peek(): Redis at 127.0.0.1:PORT: cannot connect: Connection refused (os error 111); until a call succeeds, every call is accepted
up again: [1,false,true] 1 0
{"checked":6,"accepted":6,"denied":0,"would_deny":0,"errors":0,"busy":0,"degraded":3}
open, enforce=0: [true,null,true,true,true,0,true,null,0]
TokenBucket::peek(): Redis at 127.0.0.1:PORT: cannot connect: Connection refused (os error 111); until a call succeeds, every call is accepted
up again: [1,true,true] 1 0
{"checked":6,"accepted":6,"denied":0,"would_deny":0,"errors":0,"busy":0,"degraded":3}
closed, enforce=1: [null,null,false,false,false,2,null,null,2]
TokenBucket::peek(): Redis at 127.0.0.1:PORT: cannot connect: Connection refused (os error 111); until a call succeeds, every call is denied
up again: [1,false,true] 1 0
{"checked":6,"accepted":3,"denied":3,"would_deny":0,"errors":0,"busy":0,"degraded":3}
closed, enforce=0: [true,null,true,true,true,2,true,null,2]
TokenBucket::peek(): Redis at 127.0.0.1:PORT: cannot connect: Connection refused (os error 111); until a call succeeds, every call is denied
up again: [1,true,true] 1 0
{"checked":6,"accepted":6,"denied":0,"would_deny":3,"errors":0,"busy":0,"degraded":3}
throw, enforce=1: ["Redis failed a moment","Redis failed a moment","Redis failed a moment","Redis failed a moment","Redis failed a moment","Redis failed a moment",null,null,"Redis failed a moment"]
TokenBucket::peek(): Redis at 127.0.0.1:PORT: cannot connect: Connection refused (os error 111); until a call succeeds, every call is accepted
up again: [1,false,true] 1 0
{"checked":3,"accepted":3,"denied":0,"would_deny":0,"errors":3,"busy":0,"degraded":0}
throw, enforce=0: [true,null,true,true,true,0,true,null,0]
TokenBucket::peek(): Redis at 127.0.0.1:PORT: cannot connect: Connection refused (os error 111); until a call succeeds, every call is accepted
up again: [1,true,true] 1 0
{"checked":3,"accepted":3,"denied":0,"would_deny":0,"errors":3,"busy":0,"degraded":0}
fallback: yes yes no 2, no 2, then yes 1
another server: 0 yes yes
[true,null,2,true] 0
Cannot open the directory /nowhere for shared memory: No such file or directory (os error 2); set token_bucket.shm_path to one that exists
drops, acquire: {}, ran 1; 0 of the host's held
drops, getActive: 0, ran 1; 0 of the host's held
drops, reset: null, ran 1; 0 of the host's held
drops, renew: null, ran 1; 0 of the host's held
drops, release: null, ran 1; 0 of the host's held
constructs, acquire: {}, ran 1; 0 of the host's held
constructs, getActive: 0, ran 1; 0 of the host's held
constructs, reset: null, ran 1; 0 of the host's held
constructs, renew: null, ran 1; 0 of the host's held
constructs, release: null, ran 1; 0 of the host's held
throws, acquire: thrown, ran 1; 0 of the host's held
throws, getActive: thrown, ran 1; 0 of the host's held
throws, reset: thrown, ran 1; 0 of the host's held
throws, renew: thrown, ran 1; 0 of the host's held
throws, release: thrown, ran 1; 0 of the host's held
