<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

/** The methods of all limiters but sets. */
trait LimiterMethods
{
    use CarriesValue;

    /** Makes the value in a constructor of `($storage, $identifier, $limit, $interval, $name)`. */
    private static function makeValue(mixed $storage, string $identifier, int $limit, float $interval, ?string $name, callable $make, array $arguments): LimiterValue
    {
        $backend = Limiter::ofArgument($storage);
        if (!$backend instanceof Limiter && self::class !== \TokenBucket::class && self::class !== \TokenBucket\LeakyBucket::class) {
            throw Thrown::value(1, 'must not be a storage written in PHP: TokenBucketStorage supports token buckets only');
        }
        try {
            $made = $make($limit, $interval);
        } catch (LimitError $e) {
            throw $e->getMessage() === LimitError::RATE_TOO_HIGH
                ? Thrown::value(4, 'must be at least one nanosecond for each unit of $limit')
                : Thrown::value($e->isOfCount() ? 3 : 4, $e->isOfCount() ? $e->getMessage() : LimitError::INTERVAL);
        }
        $value = new LimiterValue($backend, Thrown::unlessIdentifier($identifier), $made, $arguments, $name);
        Mistake::warnOfMilliseconds('$interval', $interval);
        return $value;
    }

    public function consume(int $token_count = 1): bool
    {
        $op = Op::take(Thrown::unlessCount($token_count));
        $value = $this->value(func_num_args(), 1);
        return $value->backend instanceof Limiter
            ? $value->decide('consume', $op)->isAdmitted()
            : PhpBucket::decide($value, 'consume', $token_count)->isAdmitted();
    }

    #[\NoDiscard]
    public function attempt(int $tokens = 1, int $leave = 0): \TokenBucket\Decision
    {
        $op = Op::take(Thrown::unlessCount($tokens));
        $leave = Thrown::unlessCount($leave, 2);
        $value = $this->value(func_num_args(), 2);
        if (!$value->backend instanceof Limiter) {
            $leave === 0 || throw LimiterValue::unsupported('attempt(): $leave');
            return DecisionValue::decision([PhpBucket::decide($value, 'attempt', $tokens)]);
        }
        return DecisionValue::decision([$value->decide('attempt', $op, $leave)]);
    }

    public function peek(int $tokens = 1, int $leave = 0): \TokenBucket\Decision
    {
        $op = new Op(Op::PEEK, Thrown::unlessCount($tokens));
        return DecisionValue::decision([$this->value(func_num_args(), 2)->decide('peek', $op, Thrown::unlessCount($leave, 2))]);
    }

    public function refund(int $tokens = 1): bool
    {
        return $this->value(func_num_args(), 1)->decide('refund', new Op(Op::REFUND, Thrown::unlessCount($tokens)))->hasRefunded();
    }

    public function reset(): void
    {
        func_num_args() > 0 && Thrown::tooMany(func_num_args());
        $this->applyWithoutLimit('reset', new Op(Op::RESET));
    }

    public function block(float $seconds): void
    {
        func_num_args() > 1 && Thrown::tooMany(func_num_args());
        try {
            $this->applyWithoutLimit('block', new Op(Op::BLOCK, time: Limit::duration($seconds)));
        } catch (LimitError $e) {
            throw Thrown::value(1, $e->getMessage());
        }
        Mistake::warnOfMilliseconds('$seconds', $seconds);
    }

    /** Applies an operation that ignores the limit. */
    private function applyWithoutLimit(string $method, Op $op): void
    {
        $value = $this->value();
        $limiter = $value->limiter($method);
        if ($value->isExempt) {
            $value->warnOfIgnoredBlock($op);
            return;
        }
        $limiter->decide($value->identifier, $value->limit === null ? TokenBucket::perNanosecond(1) : $value->limit($method), $op);
    }
}
