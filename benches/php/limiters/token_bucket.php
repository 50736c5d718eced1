<?php
/*
 * The extension itself.
 */

/** A late server on a busy machine must not turn a call into a degraded one: the time-outs are long. */
function patient(string $dsn): string
{
    return $dsn . (str_contains($dsn, '?') ? '&' : '?') . 'timeout_ms=5000&connect_timeout_ms=5000&on_error=throw';
}

function token_bucket(string $name, string $store, ?string $dsn, string $title = 'token_bucket'): Limiter
{
    return new Limiter($name, $title, $store, function (string $id, int $capacity, float $rate) use ($dsn): Closure {
        $bucket = new TokenBucket($dsn, $id, $capacity, $rate);
        return function (int $n) use ($bucket): int {
            for ($i = $accepted = 0; $i < $n; $i++) {
                if ($bucket->consume()) {
                    $accepted++;
                }
            }
            return $accepted;
        };
    });
}
