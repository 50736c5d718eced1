--TEST--
Limiter: an interface for native limiters and an application's own
--FILE--
<?php
require __DIR__ . '/../utils.inc';
use TokenBucket\Decision;
use TokenBucket\Limiter;

/** Counts what another limiter is asked. */
class Counted implements Limiter
{
    public int $calls = 0;
    public function __construct(private Limiter $limiter) {}
    public function consume(int $token_count = 1): bool { $this->calls++; return $this->limiter->consume($token_count); }
    public function attempt(int $token_count = 1): Decision { $this->calls++; return $this->limiter->attempt($token_count); }
    public function peek(int $token_count = 1): Decision { return $this->limiter->peek($token_count); }
    public function refund(int $token_count = 1): void { $this->limiter->refund($token_count); }
    public function reset(): void { $this->limiter->reset(); }
    public function block(float $seconds): void { $this->limiter->block($seconds); }
}

function ask(Limiter $limiter): void
{
    echo times(3, fn () => $limiter->consume()), ' ', $limiter->attempt(9)->getRetryAfter(), ' ';
    $limiter->refund();
    echo $limiter->peek()->getRemainingTokens(), ' ';
    $limiter->reset();
    echo $limiter->peek()->getRemainingTokens(), ' ';
    $limiter->block(3600);
    echo times(2, fn () => $limiter->consume(0)), ' ';
    $limiter->reset();
    echo times(2, fn () => $limiter->consume(0)), "\n";
}

$native = new TokenBucket('array:', 'native', 2, 0.001);
ask($native);
ask($counted = new Counted($native));
echo $counted->calls, "\n";
?>
--EXPECT--
110 INF 1 2 00 11
110 INF 1 2 00 11
8
