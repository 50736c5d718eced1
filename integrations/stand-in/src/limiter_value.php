<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

/** What a limiter carries: a storage, an identifier and a limit. */
final class LimiterValue extends Value
{
    /**
     * @param Limiter|\TokenBucketStorage $backend   the latter is written in PHP
     * @param Limit|null                  $limit     null for a TokenBucket without capacity or rate
     * @param array<string, mixed>        $arguments those of the constructor, for var_dump()
     * @param int                         $leave     so many tokens each call leaves
     */
    public function __construct(
        public object $backend,
        public string $identifier,
        public ?Limit $limit,
        public array $arguments,
        public ?string $name,
        public int $leave = 0,
        public ?Calendar $calendar = null,
        public bool $isExempt = false,
    ) {
        parent::__construct();
    }

    public function shown(): array
    {
        $name = $this->name === null ? [] : ['name' => $this->name];
        return ['identifier' => $this->identifier] + $this->arguments + $name;
    }

    /** The name of the limit: the one it was given, or the one that its identifier begins with. */
    public function limitName(): string
    {
        $first = explode(':', $this->identifier, 2)[0];
        $isWhole = strlen($first) === strlen($this->identifier);
        // A client's address must not get into a field of HTTP.
        $isAddress = preg_match('~^\d[./\d]*$~D', $first) && str_contains($first, '.') || Address::isIpv6($this->identifier);
        return $this->name ?? ($isWhole || $isAddress || $first === '' ? 'default' : $first);
    }

    /** The limit; of the calendar that of the window which is open now. */
    public function limit(string $method): Limit
    {
        if ($this->calendar !== null) {
            $this->limit = $this->calendar->limit($this->limit);
        }
        return $this->limit ?? throw $this->hasNoLimit($method);
    }

    private function hasNoLimit(string $method): \Throwable
    {
        $given = array_filter($this->arguments, static fn(mixed $argument): bool => $argument === null);
        $missing = implode(' and ', array_map(static fn(string $name): string => "\$$name", array_keys($given)));
        return Thrown::logic($method === 'check'
            ? "TokenBucket::check() needs a limit, such as check(\$id, 10, 300) for 10 in 300 seconds, or $missing in TokenBucket::__construct()"
            : "TokenBucket::$method() needs a limit: $missing missing in TokenBucket::__construct()");
    }

    /** The limiter of a storage of ours. */
    public function limiter(string $method): Limiter
    {
        return $this->backend instanceof Limiter ? $this->backend : throw self::unsupported("$method()");
    }

    /** The exception of a call that needs more than a storage written in PHP can do. */
    public static function unsupported(string $what): \Throwable
    {
        $message = "$what is not available on a storage written in PHP: TokenBucketStorage has consume() only";
        return Thrown::logic($message);
    }

    /** Refuses a method that takes tokens that may not be there. */
    public function unlessItLeaves(string $method): void
    {
        $message = "$method() is not available on a limit that leaves tokens (\"leave\" in token_bucket.limits)";
        $this->leave === 0 || throw Thrown::logic($message);
    }

    /** The operation, if each call leaves tokens. */
    public function leaving(Op $op, int $leave): Op
    {
        $op->kind !== Op::RESERVE || $this->unlessItLeaves('reserve');
        // A call that takes nothing leaves as much as there is.
        $leave = $op->asksFor() === 0 ? $leave : max($leave, $this->leave);
        return $leave > 0 ? $op->leaving($leave) : $op;
    }

    /** Takes tokens, also on a storage written in PHP. */
    public function take(string $method, int $cost, int $leave = 0): LimitDecision
    {
        if ($this->backend instanceof Limiter) {
            return $this->decide($method, Op::take($cost), $leave);
        }
        return $leave === 0 ? PhpBucket::decide($this, $method, $cost) : throw self::unsupported("$method(): \$leave");
    }

    /** Applies an operation that ignores the limit. */
    public function applyWithoutLimit(string $method, Op $op): void
    {
        $limiter = $this->limiter($method);
        if ($this->isExempt) {
            $this->warnOfIgnoredBlock($op);
            return;
        }
        $limiter->decide($this->identifier, $this->limit === null ? TokenBucket::perNanosecond(1) : $this->limit($method), $op);
    }

    /** Applies an operation, and tells the decision of this limit. */
    public function decide(string $method, Op $op, int $leave = 0): LimitDecision
    {
        $limiter = $this->limiter($method);
        $leaving = $this->leaving($op, $leave);
        $limit = $this->limit($method);
        $answer = $this->isExempt ? null : $limiter->decide($this->identifier, $limit, $leaving);
        return $this->decision($answer, $limit, $op);
    }

    /** A block of a client that is exempt does nothing: no call of it will be denied. */
    public function warnOfIgnoredBlock(Op $op): void
    {
        if ($op->kind === Op::BLOCK && Mistake::claim('ignored block')) {
            $name = Text::cut((string) $this->name);
            Mistake::warn("The client is exempt from the limit $name (token_bucket.limits), so it was not blocked");
        }
    }

    /** @param Answer|null $answer null: the store failed, and the call goes on, for the limit is a dry run */
    public function decision(?Answer $answer, Limit $limit, Op $asked): LimitDecision
    {
        return new LimitDecision($answer, $limit, $this, $asked);
    }
}
