<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

/** The methods of all limiters but sets. */
trait LimiterMethods
{
    use CarriesValue;

    /** Makes the value in a constructor of `($storage, $identifier, $limit, $interval, $name)`. */
    private static function makeValue(mixed $storage, string $identifier, int $limit, float $interval, ?string $name, array $arguments): LimiterValue
    {
        $backend = Limiter::ofArgument($storage, in_array(self::class, [\TokenBucket::class, \TokenBucket\LeakyBucket::class], true));
        try {
            $made = Limit::of(self::class, $limit, $interval);
        } catch (LimitError $e) {
            throw Thrown::value($e->isOfCount() ? 3 : 4, $e->ofInterval('$limit'));
        }
        $value = new LimiterValue($backend, Thrown::unlessIdentifier($identifier), $made, $arguments, $name);
        Mistake::warnOfMilliseconds('$interval', $interval);
        return $value;
    }

    public function consume(int $token_count = 1): bool
    {
        Thrown::unlessCount($token_count);
        return $this->value(func_num_args(), 1)->take('consume', $token_count)->isAdmitted();
    }

    #[\NoDiscard]
    public function attempt(int $tokens = 1, int $leave = 0): \TokenBucket\Decision
    {
        [$tokens, $leave] = [Thrown::unlessCount($tokens), Thrown::unlessCount($leave, 2)];
        return DecisionValue::decision([$this->value(func_num_args(), 2)->take('attempt', $tokens, $leave)]);
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

    public function reset(): void { $this->value(func_num_args())->applyWithoutLimit('reset', new Op(Op::RESET)); }

    public function block(float $seconds): void
    {
        $this->value(func_num_args(), 1)->applyWithoutLimit('block', new Op(Op::BLOCK, time: Thrown::unlessDuration($seconds)));
        Mistake::warnOfMilliseconds('$seconds', $seconds);
    }
}

/** For all single limiters but those of the calendar. */
trait TakesUpTo
{
    public function takeUpTo(int $most, int $least = 1, int $leave = 0): \TokenBucket\Decision
    {
        Thrown::unlessCount($most);
        if ($least < 1 || $least > max($most, 1)) {
            throw Thrown::value(2, 'must be between 1 and $most');
        }
        $leave = Thrown::unlessCount($leave, 3);
        $op = $most === 0 ? Op::take(0) : new Op(Op::TAKE_UP_TO, $most, $least);
        return DecisionValue::decision([$this->value(func_num_args(), 3)->decide('takeUpTo', $op, $leave)]);
    }
}

/** For buckets: hits of the future cannot be taken from a window. */
trait Reserves
{
    #[\NoDiscard]
    public function reserve(int $tokens = 1, ?float $maxWait = null): \TokenBucket\Decision
    {
        Thrown::unlessCount($tokens);
        if ($maxWait !== null && !($maxWait >= 0)) {
            throw Thrown::value(2, 'must be greater than or equal to 0');
        }
        $wait = $maxWait === null || $maxWait > 9e9 ? PHP_INT_MAX : (int) Limit::nearest($maxWait * 1e9);
        return DecisionValue::decision([$this->value(func_num_args(), 2)->decide('reserve', new Op(Op::RESERVE, $tokens, time: $wait))]);
    }
}

/** For limiters of so many in an interval. */
trait CountsInAnInterval
{
    use LimiterMethods;
    use TakesUpTo;

    public function __construct(
        #[\SensitiveParameter] \TokenBucketStorage|string|null $storage,
        string $identifier,
        int $limit,
        float $interval,
        ?string $name = null,
    ) {
        func_num_args() > 5 && Thrown::tooMany(func_num_args());
        $arguments = ['limit' => $limit, 'interval' => $interval];
        $this->value = self::makeValue($storage, $identifier, $limit, $interval, $name, $arguments);
    }
}

namespace TokenBucket;

interface Limiter
{
    public function consume(int $token_count = 1): bool;
    #[\NoDiscard]
    public function attempt(int $tokens = 1): Decision;
    public function peek(int $tokens = 1): Decision;
    public function refund(int $tokens = 1): bool;
    public function reset(): void;
    public function block(float $seconds): void;
}

final class LeakyBucket implements Limiter
{
    use StandIn\CountsInAnInterval;
    use StandIn\Reserves;
}

final class FixedWindow implements Limiter
{
    use StandIn\CountsInAnInterval;
}

final class SlidingWindow implements Limiter
{
    use StandIn\CountsInAnInterval;
}

final class CalendarWindow implements Limiter
{
    use StandIn\LimiterMethods;

    public function __construct(
        #[\SensitiveParameter] \TokenBucketStorage|string|null $storage,
        string $identifier,
        int $limit,
        string $unit,
        string $timezone = 'UTC',
        ?string $name = null,
    ) {
        func_num_args() > 6 && StandIn\Thrown::tooMany(func_num_args());
        $backend = StandIn\Limiter::ofArgument($storage, false);
        StandIn\Calendar::isUnit($unit) || throw StandIn\Thrown::value(4, 'must be ' . StandIn\Calendar::UNITS);
        try {
            $window = new StandIn\CalendarWindow($limit);
        } catch (StandIn\LimitError $e) {
            throw StandIn\Thrown::value(3, $e->getMessage());
        }
        $calendar = StandIn\Calendar::find($unit, $timezone)
            ?? throw StandIn\Thrown::value(5, 'must be "UTC", an offset such as "+01:00", or a place that PHP knows, such as "Europe/Berlin"');
        $arguments = ['limit' => $limit, 'unit' => $unit, 'timezone' => $calendar->zone->getName()];
        $identifier = StandIn\Thrown::unlessIdentifier($identifier);
        $this->value = new StandIn\LimiterValue($backend, $identifier, $window, $arguments, $name, calendar: $calendar);
    }
}
