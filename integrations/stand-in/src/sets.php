<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

/** Several limits on one call: all of them are changed or none. */
final class JointCall
{
    /**
     * Applies the operations to all limits if each of the enforced ones accepts, else to none.
     *
     * If the call is denied, the answers are those of a peek. A limit that is not charged keeps its state, but for times from the future.
     *
     * @param list<array{Limit, Op, bool}> $charges a limit, the operation, and whether its denial denies the call
     */
    public static function takeAll(array $charges, array $states, int $now): array
    {
        $isDenied = false;
        $each = [];
        foreach ($charges as $i => [$limit, $op, $isEnforced]) {
            $each[$i] = $limit->apply($states[$i], $now, $op);
            $isDenied = $isDenied || $isEnforced && !$each[$i][0]->isAccepted;
        }
        if (!$isDenied) {
            return $each;
        }
        foreach ($charges as $i => [$limit, $op]) {
            [, $corrected] = $limit->apply($states[$i], $now, Op::take(0));
            $each[$i] = [$limit->apply($states[$i], $now, $op->peek())[0], $corrected];
        }
        return $each;
    }
}

/** Several limiters in one object: what Compound and FirstOf carry. */
final class SetValue extends Value
{
    private const MOST = 16;

    /** @var \WeakMap<object, int> the position of the limiter that a FirstOf has charged last, in each fiber; outside by this object */
    public \WeakMap $charged;

    /** @param list<LimiterValue> $parts */
    public function __construct(public array $parts)
    {
        parent::__construct();
        $this->charged = new \WeakMap;
    }

    public function shown(): array
    {
        return ['limiters' => array_map(static fn(LimiterValue $part): array => $part->shown(), $this->parts)];
    }

    /** Makes the value of a set of the limiters in the arguments. */
    public static function ofArguments(array $limiters, bool $isCompound): self
    {
        [$class, $least] = $isCompound ? ['Compound', 1] : ['FirstOf', 2];
        if (!array_is_list($limiters)) {
            throw Thrown::at(new \ArgumentCountError("TokenBucket\\$class::__construct() does not accept unknown named parameters"));
        }
        if (count($limiters) < $least) {
            $arguments = "$least argument" . ($least === 1 ? '' : 's') . ', ' . count($limiters) . ' given';
            throw Thrown::at(new \ArgumentCountError("TokenBucket\\$class::__construct() expects at least $arguments"));
        }
        $parts = [];
        foreach ($limiters as $i => $limiter) {
            foreach (self::partsOf($limiter, $i + 1, $isCompound) as $part) {
                count($parts) < self::MOST
                    || throw Thrown::value($i + 1, "must not bring the limiters of the $class above " . self::MOST);
                foreach ($parts as $other) {
                    $isSame = $part->limit::class === $other->limit::class
                        && $part->backend->hasSameKey($part->identifier, $other->backend, $other->identifier);
                    !$isSame || throw Thrown::value($i + 1, "must not use the same bucket as another limiter of the $class");
                }
                $parts[] = $part;
            }
        }
        return new self($parts);
    }

    /** The limiters in an argument: one, or those of another compound. */
    private static function partsOf(\TokenBucket\Limiter $limiter, int $argument, bool $isCompound): array
    {
        $single = 'TokenBucket, LeakyBucket, FixedWindow, CalendarWindow';
        if (!$limiter instanceof \TokenBucket && !str_starts_with($limiter::class, 'TokenBucket\\')) {
            throw Thrown::value($argument, $isCompound
                ? "must be a $single, SlidingWindow or Compound: a limiter written in PHP cannot be charged together with others"
                : "must be a $single or SlidingWindow: the decision of a limiter written in PHP cannot be settled where it was made", \TypeError::class);
        }
        $value = Value::of($limiter) ?? throw Thrown::at(new \Error(
            "The limiter in argument #$argument is not initialized: a constructor that overrides must call parent::__construct()",
        ));
        if ($value instanceof self) {
            return match (true) {
                !$isCompound => throw Thrown::value($argument, 'must be a single limiter: a FirstOf cannot contain a set', \TypeError::class),
                $limiter instanceof \TokenBucket\Compound => $value->parts,
                default => throw Thrown::value($argument, 'must not be a FirstOf: a Compound cannot contain one', \TypeError::class),
            };
        }
        if (!$value->backend instanceof Limiter) {
            throw Thrown::value($argument, 'must not be on a storage written in PHP: TokenBucketStorage cannot give back what it took');
        }
        $value->limit ?? throw Thrown::value($argument, 'must have a limit: $bucket_capacity and $tokens_per_second');
        return [$value];
    }

    /**
     * Numbers of tokens for each limit: one number for all, or one for each, in their order or by their names.
     *
     * @param array<LimiterValue|LimitDecision>|null $limits null: any array is accepted
     */
    public static function counts(int|array $counts, int $argument, ?array $limits): array
    {
        if (!is_array($counts)) {
            return array_fill(0, self::MOST, Thrown::unlessCount($counts, $argument));
        }
        if ($limits !== null) {
            $names = array_map(static fn(LimiterValue|LimitDecision $limit): string => $limit->limitName(), $limits);
            $given = $counts;
            $isByName = !array_is_list($given) && array_diff_key(array_flip($names), $given) === [] && $names === array_unique($names);
            $counts = $isByName ? array_map(static fn(string $name): mixed => $given[$name], $names) : $given;
            if (count($given) !== count($names) || !$isByName && !array_is_list($given)) {
                [$number, $shown] = [count($names), implode(', ', array_map([Text::class, 'cut'], $names))];
                throw Thrown::value($argument, match (true) {
                    $number === 1 => 'must be a list with one number for the one limiter',
                    $number > count(array_unique($names)) => "must be a list with one number for each of the $number limiters",
                    default => "must have one number for each of the $number limiters: in their order, or by their names ($shown)",
                });
            }
        }
        foreach ($counts as $count) {
            is_int($count) || throw Thrown::value($argument, 'must be of type array|int, with ints in the array', \TypeError::class);
            $count >= 0 || throw Thrown::value($argument, 'must contain only numbers of 0 or more');
        }
        return array_values($counts) + array_fill(0, self::MOST, 0);
    }

    /** Applies an operation to each limit, one after the other. */
    public function changeEach(string $method, callable $op): array
    {
        $decisions = [];
        foreach ($this->parts as $i => $part) {
            $part->isExempt && $part->warnOfIgnoredBlock($op($i));
            $decisions[] = $part->decide($method, $op($i));
        }
        return $decisions;
    }
}

/** What Compound and FirstOf share. */
trait SetMethods
{
    use CarriesValue;

    public function reset(): void { $this->value(func_num_args())->changeEach('reset', static fn(): Op => new Op(Op::RESET)); }

    public function block(float $seconds): void
    {
        $duration = Thrown::unlessDuration($seconds);
        $this->value(func_num_args(), 1)->changeEach('block', static fn(): Op => new Op(Op::BLOCK, time: $duration));
        Mistake::warnOfMilliseconds('$seconds', $seconds);
    }
}

namespace TokenBucket;

final class Compound implements Limiter
{
    use StandIn\SetMethods;

    public function __construct(Limiter ...$limiters) { $this->value = StandIn\SetValue::ofArguments($limiters, true); }

    public function consume(int|array $token_count = 1): bool { return $this->ask(func_num_args(), 'consume', $token_count)->isAccepted(); }

    #[\NoDiscard]
    public function attempt(int|array $tokens = 1, int|array $leave = 0): Decision
    {
        return $this->ask(func_num_args(), 'attempt', $tokens, $leave);
    }

    public function peek(int|array $tokens = 1, int|array $leave = 0): Decision { return $this->ask(func_num_args(), 'peek', $tokens, $leave); }

    /** Takes from all limits if all of them have enough, or looks at them. */
    private function ask(int $given, string $method, int|array $tokens, int|array $leave = 0): Decision
    {
        $parts = $this->value($given, $method === 'consume' ? 1 : 2)->parts;
        $costs = StandIn\SetValue::counts($tokens, 1, $parts);
        $leaves = StandIn\SetValue::counts($leave, 2, $parts);
        $isPeek = $method === 'peek';
        $asked = $calls = [];
        foreach ($parts as $i => $part) {
            $asked[] = $isPeek ? new StandIn\Op(StandIn\Op::PEEK, $costs[$i]) : StandIn\Op::take($costs[$i]);
            $calls[] = [$part->backend, $part->identifier, $part->limit($method), $part->leaving($asked[$i], $leaves[$i])];
        }
        $decisions = [];
        $holding = array_filter($calls, static fn(int $i): bool => !$parts[$i]->isExempt, ARRAY_FILTER_USE_KEY);
        $answers = StandIn\Limiter::decideAll($holding, !$isPeek);
        foreach ($parts as $i => $part) {
            $decisions[] = $part->decision($answers[$i] ?? null, $calls[$i][2], $asked[$i]);
        }
        return StandIn\DecisionValue::decision($decisions);
    }

    public function refund(int|array $tokens = 1): bool
    {
        $costs = StandIn\SetValue::counts($tokens, 1, $this->value(func_num_args(), 1)->parts);
        $refunds = $this->value()->changeEach('refund', static fn(int $i): StandIn\Op => new StandIn\Op(StandIn\Op::REFUND, $costs[$i]));
        return array_filter($refunds, static fn(StandIn\LimitDecision $refund): bool => $refund->hasRefunded()) !== [];
    }
}

final class FirstOf implements Limiter
{
    use StandIn\SetMethods;

    public function __construct(Limiter ...$limiters) { $this->value = StandIn\SetValue::ofArguments($limiters, false); }

    public function consume(int $token_count = 1): bool { return $this->ask(func_num_args(), 'consume', $token_count)->isAccepted(); }

    #[\NoDiscard]
    public function attempt(int $tokens = 1, int $leave = 0): Decision { return $this->ask(func_num_args(), 'attempt', $tokens, $leave); }
    public function peek(int $tokens = 1, int $leave = 0): Decision { return $this->ask(func_num_args(), 'peek', $tokens, $leave); }

    /** Asks one limit after the other, until one accepts; if none does, one in a dry run lets the call go on. */
    private function ask(int $given, string $method, int $cost, int $leave = 0): Decision
    {
        $value = $this->value($given, $method === 'consume' ? 1 : 2);
        StandIn\Thrown::unlessCount($cost);
        StandIn\Thrown::unlessCount($leave, 2);
        $each = [];
        $op = $method === 'peek' ? new StandIn\Op(StandIn\Op::PEEK, $cost) : StandIn\Op::take($cost);
        foreach ($value->parts as $i => $part) {
            $each[$i] = $part->decide($method, $op, $leave);
            if ($each[$i]->isAccepted() && !$each[$i]->isDegraded) {
                $each[$i]->isCharged() && $value->charged[\Fiber::getCurrent() ?? $value] = $i;
                return StandIn\DecisionValue::decision([$each[$i]]);
            }
        }
        $soonest = 0;
        foreach ($each as $i => $decision) {
            if ($decision->isAdmitted()) {
                return StandIn\DecisionValue::decision([$decision]);
            }
            $soonest = $decision->retryAfter() < $each[$soonest]->retryAfter() ? $i : $soonest;
        }
        return StandIn\DecisionValue::decision([$each[$soonest]], $each);
    }

    public function refund(int $tokens = 1): bool
    {
        StandIn\Thrown::unlessCount($tokens);
        $value = $this->value(func_num_args(), 1);
        $charged = $value->charged[\Fiber::getCurrent() ?? $value] ?? null;
        return $charged !== null && $value->parts[$charged]->decide('refund', new StandIn\Op(StandIn\Op::REFUND, $tokens))->hasRefunded();
    }
}
