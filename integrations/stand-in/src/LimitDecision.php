<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

/** The decision of one limit, and where it was made. */
final class LimitDecision
{
    /* Why a call is denied, as draft-ietf-httpapi-ratelimit-headers registers it. Of several reasons the greatest says most. */
    public const REDUCED_CAPACITY = 0;
    public const QUOTA_EXCEEDED = 1;
    public const ABNORMAL_USAGE = 2;

    public Answer $answer;
    public bool $isDegraded;
    public bool $isEnforced;

    public bool $isExempt;

    /** @param Op $asked what the call asked of the limit, but for those that it leaves */
    public function __construct(?Answer $answer, private Limit $limit, private LimiterValue $of, private Op $asked)
    {
        $this->isExempt = $of->isExempt;
        $this->isEnforced = $of->backend instanceof Limiter ? $of->backend->isEnforced : Settings::get('enforce');
        $this->isDegraded = $answer === null && !$this->isExempt;
        $this->answer = $answer ?? $limit->apply(State::FULL, Clock::now(), new Op(Op::PEEK))[0];
    }

    /** Whether the call may go on. */
    public function isAdmitted(): bool { return $this->answer->isAccepted || !$this->isEnforced; }

    /** Whether a refund was made. */
    public function hasRefunded(): bool { return $this->answer->isAccepted && !$this->isDegraded && !$this->isExempt; }
    public function capacity(): int { return $this->limit->capacity(); }
    public function remaining(): int { return $this->limit->remaining($this->answer); }

    /** How many tokens the caller may use: those that were taken, or all that it asked for if the call goes on without. */
    public function tokens(): int
    {
        $goesOn = $this->isDegraded || $this->isExempt || !$this->answer->isAccepted;
        $all = $this->asked->kind === Op::PEEK ? 0 : $this->asked->asksFor();
        return $this->answer->taken > 0 ? $this->answer->taken : ($goesOn && $this->isAdmitted() ? $all : 0);
    }

    public function retryAfter(): float { return $this->isAdmitted() ? 0.0 : $this->answer->retryAfter(); }

    /** Whole seconds until the same call would be accepted, at least 1 if it is denied; null for never. */
    public function retryAfterSeconds(): ?int { return $this->isAdmitted() ? 0 : self::wholeSeconds($this->retryAfter()); }

    /** How long a reservation has to wait, in nanoseconds; 0 if the limit is not enforced. */
    public function wait(): int { return $this->isEnforced ? $this->answer->wait : 0; }

    /** The name of the limit: the one it was given, or the one that its identifier begins with. */
    public function name(): string
    {
        $identifier = $this->of->identifier;
        $first = explode(':', $identifier, 2)[0];
        $isWhole = strlen($first) === strlen($identifier);
        // A client's address must not get into a field of HTTP.
        $isAddress = preg_match('~^\d[./\d]*$~D', $first) && str_contains($first, '.') || Address::isIpv6($identifier);
        return $this->of->name ?? ($isWhole || $isAddress || $first === '' ? 'default' : $first);
    }

    /** Why the limit denies the call. */
    public function problem(): int
    {
        // If as much is left, the call was to leave more.
        $isKept = $this->remaining() >= $this->asked->needs();
        return $this->answer->isBlocked ? self::ABNORMAL_USAGE : ($isKept ? self::REDUCED_CAPACITY : self::QUOTA_EXCEEDED);
    }

    /** What the fields RateLimit-Policy and RateLimit say of the limit, to calls that leave what its section tells. */
    public function fields(): array
    {
        $name = '"' . addcslashes(Text::percentEncode($this->name()), '"\\') . '"';
        $window = max(1, intdiv($this->limit->window() + Limit::SECOND - 1, Limit::SECOND));
        $leave = $this->of->leave;
        // A window ends less than a microsecond after its interval.
        $end = $this->limit instanceof TokenBucket ? 0.0 : 1e-6;
        $wait = $this->answer->isAccepted ? ($this->limit->moreAfter($this->answer, $leave) / 1e9) - $end : $this->answer->retryAfter();
        $seconds = self::wholeSeconds($wait);
        $until = $seconds === null ? '' : ";t=$seconds";
        [$quota, $remaining] = [max(0, $this->capacity() - $leave), max(0, $this->remaining() - $leave)];
        return ["$name;q=$quota;w=$window", "$name;r=$remaining$until"];
    }

    /**
     * Charges the call what it cost, in place of what it took. Returns whether it is charged that.
     *
     * `$inForce` are the numbers that are in force for the limit now, if they are known. The time of a token changes with the interval:
     * of the decision's own and of those, the numbers that count against the caller hold.
     */
    public function settle(int $cost, ?Limit $inForce): bool
    {
        $op = $this->answer->settle($cost);
        if ($this->answer->taken === 0 || $op->kind === Op::SETTLE && $op->cost === 0) {
            return $this->answer->taken > 0;
        }
        $limit = $this->limit;
        if ($inForce instanceof TokenBucket && $limit instanceof TokenBucket) {
            $isCheaper = $inForce::ceil($inForce->interval) < $limit::ceil($limit->interval);
            $limit = $isCheaper === ($op->kind === Op::REFUND) ? $inForce : $limit;
        }
        $level = $this->of->backend->decide($this->of->identifier, $limit, $op);
        if ($level === null) {
            return false;
        }
        // The decision tells what is left after it was settled.
        foreach (['now', 'retryAt', 'expiresAt', 'available'] as $name) {
            $this->answer->$name = $level->$name;
        }
        return $level->isAccepted;
    }

    /** The limit of this name and identifier in the file of limits. */
    public function inForce(?NamedLimits $limits): ?Limit
    {
        return $this->of->name === null ? null : $limits?->limitOn($this->of->name, $this->of->identifier);
    }

    public function isOnPhpStorage(): bool { return !$this->of->backend instanceof Limiter; }

    /** Rounds up to whole seconds, at least 1; null for ever. */
    private static function wholeSeconds(float $seconds): ?int { return is_finite($seconds) ? (int) max(1, ceil($seconds)) : null; }
}
