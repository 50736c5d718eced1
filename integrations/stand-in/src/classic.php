<?php

declare(strict_types=1);

use TokenBucket\StandIn;

interface TokenBucketStorage
{
    public function prepare();
    public function bootstrap($identifier, $microtime);
    public function consume($identifier, $microtime, $full_microtime, $bootstrap_closure);
}

class TokenBucket implements TokenBucket\Limiter
{
    use StandIn\LimiterMethods;
    use StandIn\TakesUpTo;
    use StandIn\Reserves;

    public const MILLISECOND = 0.001;
    public const SECOND = 1;
    public const MINUTE = 60;
    public const HOUR = 3600;
    public const DAY = 86400;
    public const WEEK = 604800;
    public const MICROTIME_DELTA = 0.0001;

    public static function compare_microtimes(float $m1, float $m2): int
    {
        func_num_args() > 2 && StandIn\Thrown::tooMany(func_num_args());
        $isEqual = abs($m2 === 0.0 ? $m1 : ($m1 - $m2) / $m2) < self::MICROTIME_DELTA;
        return $isEqual ? 0 : ($m1 > $m2 ? 1 : -1);
    }

    public function __construct(
        #[\SensitiveParameter] TokenBucketStorage|string|null $storage,
        string $identifier,
        ?int $bucket_capacity = null,
        ?float $tokens_per_second = null,
        ?string $name = null,
    ) {
        func_num_args() > 5 && StandIn\Thrown::tooMany(func_num_args());
        $backend = StandIn\Limiter::ofArgument($storage);
        try {
            $limit = match (true) {
                $bucket_capacity !== null && $tokens_per_second !== null => StandIn\TokenBucket::perSecond($bucket_capacity, $tokens_per_second),
                $bucket_capacity !== null => StandIn\TokenBucket::checkCapacity($bucket_capacity),
                $tokens_per_second !== null => StandIn\TokenBucket::checkRate($tokens_per_second),
                default => null,
            };
        } catch (StandIn\LimitError $e) {
            $isSlow = $e->getMessage() === StandIn\LimitError::REFILL_TOO_LONG;
            throw StandIn\Thrown::value($e->isOfCount() ? 3 : 4, $isSlow ? self::describeSlowRate($bucket_capacity, $tokens_per_second) : $e->getMessage());
        }
        $arguments = ['bucket_capacity' => $bucket_capacity, 'tokens_per_second' => $tokens_per_second];
        $this->value = new StandIn\LimiterValue($backend, StandIn\Thrown::unlessIdentifier($identifier), $limit, $arguments, $name);
        $limit === null || StandIn\Mistake::warnOfPeriod($bucket_capacity, $tokens_per_second);
    }

    /** The usual mistake is to pass seconds per token. */
    private static function describeSlowRate(int $capacity, float $rate): string
    {
        $years = $capacity / $rate / (365.25 * self::DAY);
        $years = $years < 1e6 ? sprintf('%.1F', $years) : strtolower(str_replace('e+', 'e', sprintf('%.1e', $years)));
        $rate = str_replace(['.0E', 'E'], 'e', var_export($rate, true));
        return "must refill the whole bucket within four years: a capacity of $capacity takes $years years at "
            . "$rate tokens per second; were seconds per token meant?";
    }

    public static function per(
        #[\SensitiveParameter] TokenBucketStorage|string|null $storage,
        string $identifier,
        int $limit,
        float $interval,
        ?string $name = null,
    ): static {
        func_num_args() > 5 && StandIn\Thrown::tooMany(func_num_args());
        $arguments = ['bucket_capacity' => $limit, 'tokens_per_second' => $interval > 0 ? $limit / $interval : null];
        $value = self::makeValue($storage, $identifier, $limit, $interval, $name, $arguments);
        return StandIn\LimiterValue::wrap(static::class, $value);
    }

    public function check(?string $id = null, ?int $limit = null, float $window = 300.0): bool
    {
        func_num_args() > 3 && StandIn\Thrown::tooMany(func_num_args());
        try {
            $given = $limit === null ? null : StandIn\TokenBucket::perPeriod($limit, $window);
        } catch (StandIn\LimitError $e) {
            throw StandIn\Thrown::value($e->isOfCount() ? 2 : 3, $e->ofInterval('$limit'));
        }
        $key = $id === null ? null : $this->keyOf(StandIn\Thrown::unlessIdentifier($id, 1));
        $value = $this->value();
        $limiter = $value->limiter('check');
        $value->unlessItLeaves('check');
        $answer = $limiter->decide($key ?? $value->identifier, $given ?? $value->limit('check'), new StandIn\Op(StandIn\Op::CHECK));
        StandIn\Mistake::warnOfMilliseconds('$window', $window);
        return !($answer === null || $answer->isAccepted || !$limiter->isEnforced);
    }

    /** The key of a client, which an extending class may make in another way. */
    private function keyOf(string $id): string
    {
        $key = $this->key($id);
        $isValid = is_string($key) && $key !== '' && (strlen($key) <= 4096 || (new ReflectionMethod($this, 'key'))->class === self::class);
        return $isValid ? $key : throw StandIn\Thrown::at(new Error('The key() of a TokenBucket must return a string of 1 to 4096 bytes'));
    }

    protected function key(string $id): string { return strtr($this->value()->identifier, [':' => '%3A', '%' => '%25']) . ":$id"; }
}
