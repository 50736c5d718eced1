<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

/** Several limiters in one object: what Compound and FirstOf carry. */
final class SetValue extends Value
{
    private const MOST = 16;

    /** The position of the limiter that a FirstOf has charged last. */
    public ?int $charged = null;

    /** @param list<LimiterValue> $parts */
    public function __construct(public array $parts) { parent::__construct(); }

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
        $noStep = 'no store decides in one step on all of some limits and the first of others';
        $isOwn = $limiter instanceof \TokenBucket || array_intersect([LimiterMethods::class, SetMethods::class], class_uses($limiter)) !== [];
        if (!$isOwn) {
            throw Thrown::value($argument, $isCompound
                ? "must be a $single, SlidingWindow or Compound: a limiter written in PHP cannot be charged together with others"
                : "must be a $single or SlidingWindow: the decision of a limiter written in PHP cannot be settled where it was made", \TypeError::class);
        }
        $value = Value::of($limiter) ?? throw Thrown::at(new \Error(
            "The limiter in argument #$argument is not initialized: a constructor that overrides must call parent::__construct()",
        ));
        if ($value instanceof self) {
            return match (true) {
                !$isCompound => throw Thrown::value($argument, "must be a single limiter: $noStep", \TypeError::class),
                $limiter instanceof \TokenBucket\Compound => $value->parts,
                default => throw Thrown::value($argument, "must not be a FirstOf: $noStep", \TypeError::class),
            };
        }
        if (!$value->backend instanceof Limiter) {
            throw Thrown::value($argument, 'must not be on a storage written in PHP: TokenBucketStorage cannot give back what it took');
        }
        $value->limit ?? throw Thrown::value($argument, 'must have a limit: $bucket_capacity and $tokens_per_second');
        return [$value];
    }

    /** Numbers of tokens for each limit: one number for all, or a list with one for each. */
    public static function counts(int|array $counts, int $argument, ?int $limits): array
    {
        if (!is_array($counts)) {
            return array_fill(0, $limits ?? self::MOST, Thrown::unlessCount($counts, $argument));
        }
        if ($limits !== null && (count($counts) !== $limits || !array_is_list($counts))) {
            $each = $limits === 1 ? 'the one limiter' : "each of the $limits limiters";
            throw Thrown::value($argument, "must be a list with one number for $each");
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
