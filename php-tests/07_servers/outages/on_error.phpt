--TEST--
on_error: each policy answers while a server is down, with one warning for each outage; afterwards the server decides
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require dirname(__DIR__, 2) . '/servers.inc';

/** The answers of a bucket of two: three times, the decision, check(). */
function answers(TokenBucket $bucket): string
{
    try {
        $told = array_map(fn (): string => $bucket->consume() ? 'yes' : 'no', range(1, 3));
        $decision = $bucket->attempt();
        $told[] = $decision->isDegraded() ? 'degraded' : 'by the store';
        $told[] = json_decode(json_encode($decision), true)['degraded'] === $decision->isDegraded() ? 'as told' : '?';
        $told[] = $bucket->check() ? 'limited' : 'not limited';
        $bucket->refund();
        return implode(', ', $told);
    } catch (TokenBucket\StorageException $e) {
        return preg_replace(['/:\d+:/', '/\d\.\d s/'], [':PORT:', 'N s'], $e->getMessage());
    }
}

foreach (['redis', 'memcached'] as $kind) {
    foreach (['fallback', 'open', 'closed', 'throw'] as $policy) {
        $server = new Server($kind);
        ini_set('token_bucket.on_error', $policy);
        // By ini, or by the DSN.
        $bucket = $policy === 'open'
            ? new TokenBucket($server->dsn('on_error=open&timeout_ms=1000'), 'x', 2, 0.001)
            : new TokenBucket($server->dsn('timeout_ms=1000'), 'x', 2, 0.001);
        $bucket->peek();
        $server->kill();
        // One that throws says so itself.
        echo $policy === 'throw' ? '' : warning_of_outage($server->dsn("on_error=$policy")) . "\n";
        echo implode("\n", warnings(fn () => print("$kind $policy: " . answers($bucket) . "\n")));
        $server->start();
        // A second, and some; then it is asked again.
        for ($end = hrtime(true) + 10e9; hrtime(true) < $end; usleep(10_000)) {
            try {
                if (!$bucket->attempt(0)->isDegraded()) {
                    break;
                }
            } catch (TokenBucket\StorageException) {
            }
        }
        echo implode("\n", warnings(fn () => print(answers($bucket) . "\n"))), "\n";
    }
}

// A handler that makes exceptions of warnings changes no answer.
foreach (['fallback', 'open', 'closed'] as $policy) {
    $server = new Server('redis');
    $bucket = new TokenBucket($server->dsn("on_error=$policy"), 'x', 2, 0.001);
    $bucket->peek();
    $server->kill();
    set_error_handler(fn (int $level, string $message) => throw new ErrorException($message));
    echo "$policy: ", answers($bucket), "\n";
    restore_error_handler();
}
?>
--EXPECT--
TokenBucket::peek(): Redis at 127.0.0.1:PORT: cannot connect: Connection refused (os error 111); until a call succeeds, limits are enforced in this host's shared memory
redis fallback: yes, yes, no, degraded, as told, limited
yes, yes, no, by the store, as told, limited

TokenBucket::peek(): Redis at 127.0.0.1:PORT: cannot connect: Connection refused (os error 111); until a call succeeds, every call is accepted
redis open: yes, yes, yes, degraded, as told, not limited
yes, yes, no, by the store, as told, limited

TokenBucket::peek(): Redis at 127.0.0.1:PORT: cannot connect: Connection refused (os error 111); until a call succeeds, every call is denied
redis closed: no, no, no, degraded, as told, limited
yes, yes, no, by the store, as told, limited

redis throw: Redis at 127.0.0.1:PORT: cannot connect: Connection refused (os error 111)
yes, yes, no, by the store, as told, limited

TokenBucket::peek(): memcached at 127.0.0.1:PORT: cannot connect: Connection refused (os error 111); until a call succeeds, limits are enforced in this host's shared memory
memcached fallback: yes, yes, no, degraded, as told, limited
yes, yes, no, by the store, as told, limited

TokenBucket::peek(): memcached at 127.0.0.1:PORT: cannot connect: Connection refused (os error 111); until a call succeeds, every call is accepted
memcached open: yes, yes, yes, degraded, as told, not limited
yes, yes, no, by the store, as told, limited

TokenBucket::peek(): memcached at 127.0.0.1:PORT: cannot connect: Connection refused (os error 111); until a call succeeds, every call is denied
memcached closed: no, no, no, degraded, as told, limited
yes, yes, no, by the store, as told, limited

memcached throw: memcached at 127.0.0.1:PORT: cannot connect: Connection refused (os error 111)
yes, yes, no, by the store, as told, limited

fallback: yes, yes, no, degraded, as told, limited
open: yes, yes, yes, degraded, as told, not limited
closed: no, no, no, degraded, as told, limited
