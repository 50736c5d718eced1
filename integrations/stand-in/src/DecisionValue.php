<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

/** The limits that a decision is about, and what they say together. */
final class DecisionValue extends Value
{
    /** The process that made it and may settle it; 0 once it has. */
    private int $settleableBy;
    private int $readyAt;

    /**
     * @param list<LimitDecision>      $asked   those that the numbers of the decision are about: all of them were asked to accept the call
     * @param list<LimitDecision>|null $denying all that deny a call which any of them might have accepted
     */
    public function __construct(public array $asked, private ?array $denying = null)
    {
        parent::__construct();
        $this->settleableBy = getmypid();
        $this->readyAt = $this->wait() === 0 ? 0 : Clock::now() + $this->wait();
    }

    /** A decision on these limits. */
    public static function decision(array $asked, ?array $denying = null): \TokenBucket\Decision
    {
        return self::wrap(\TokenBucket\Decision::class, new self($asked, $denying));
    }

    public function isAdmitted(): bool
    {
        foreach ($this->asked as $limit) {
            if (!$limit->isAdmitted()) {
                return false;
            }
        }
        return true;
    }

    /** The names of the limits that deny the call. */
    public function deniedBy(): array
    {
        $denying = array_filter($this->denying ?? $this->asked, static fn(LimitDecision $limit): bool => !$limit->isAdmitted());
        return array_values(array_map(static fn(LimitDecision $limit): string => $limit->name(), $denying));
    }

    /** The names of the limits that the call has taken something of. */
    public function chargedTo(): array
    {
        $isCharged = static fn(LimitDecision $limit): bool => $limit->answer->isAccepted && $limit->answer->taken > 0;
        return array_values(array_map(static fn(LimitDecision $limit): string => $limit->name(), array_filter($this->asked, $isCharged)));
    }

    /** The limits that hold for the client. */
    public function holding(): array
    {
        return array_values(array_filter($this->asked, static fn(LimitDecision $limit): bool => !$limit->isExempt));
    }

    /** The limit with the fewest tokens left, of those that hold for the client if any does. */
    public function strictest(): LimitDecision
    {
        $holding = $this->holding();
        $least = static fn(LimitDecision $a, LimitDecision $b): LimitDecision => $b->remaining() < $a->remaining() ? $b : $a;
        return array_reduce($holding === [] ? [$this->asked[0]] : $holding, static fn(?LimitDecision $a, LimitDecision $b): LimitDecision => $a === null ? $b : $least($a, $b));
    }

    public function tokens(): int
    {
        $tokens = min(array_map(static fn(LimitDecision $limit): int => $limit->tokens(), $this->asked));
        return $this->isAdmitted() ? $tokens : 0;
    }

    public function retryAfter(): float
    {
        return max(array_map(static fn(LimitDecision $limit): float => $limit->retryAfter(), $this->asked));
    }

    public function retryAfterSeconds(): ?int
    {
        $each = array_map(static fn(LimitDecision $limit): ?int => $limit->retryAfterSeconds(), $this->asked);
        return in_array(null, $each, true) ? null : max($each);
    }

    public function resetAfter(): float
    {
        return max(array_map(static fn(LimitDecision $limit): float => $limit->answer->resetAfter(), $this->asked));
    }

    /** How long a reservation has to wait, in nanoseconds. */
    public function wait(): int { return max(array_map(static fn(LimitDecision $limit): int => $limit->wait(), $this->asked)); }

    /** What is left of that; no more than all, for a test may have frozen the clock or let it run since. */
    public function waitLeft(): int { return min(max(0, $this->readyAt - Clock::now()), $this->wait()); }

    public function isDegraded(): bool
    {
        return in_array(true, array_map(static fn(LimitDecision $limit): bool => $limit->isDegraded, $this->asked), true);
    }

    public function wouldDeny(): bool
    {
        return in_array(false, array_map(static fn(LimitDecision $limit): bool => $limit->answer->isAccepted, $this->asked), true);
    }

    /** Why the limits deny the call. */
    public function problem(): int
    {
        $denying = array_filter($this->denying ?? $this->asked, static fn(LimitDecision $limit): bool => !$limit->isAdmitted());
        return max(array_map(static fn(LimitDecision $limit): int => $limit->problem(), $denying));
    }

    /** What a person is told of a denied call. */
    public function detail(): string
    {
        $seconds = $this->retryAfterSeconds();
        return match ($seconds) {
            null => 'The request is larger than the limit allows at any time.',
            1 => 'Try again in 1 second.',
            default => "Try again in $seconds seconds.",
        };
    }

    /** Charges the call what it cost: one number for all limits, or one for each. Returns whether any limit charges it that. */
    public function settle(string $method, int|array $costs): bool
    {
        foreach ($this->asked as $limit) {
            $limit->isOnPhpStorage() && throw LimiterValue::unsupported("$method()");
        }
        $inForce = LimitsFile::limitsInUse();
        $isFirst = $this->settleableBy === getmypid();
        $this->settleableBy = 0;
        $isDone = false;
        foreach ($isFirst && $this->denying === null ? $this->asked : [] as $i => $limit) {
            $isDone = $limit->settle(is_array($costs) ? $costs[$i] : $costs, $limit->inForce($inForce)) || $isDone;
        }
        return $isDone;
    }

    /** What JSON and var_dump() show. */
    public function toArray(?float $never): array
    {
        $retryAfter = $this->retryAfter();
        return [
            'accepted' => $this->isAdmitted(),
            'limit' => $this->strictest()->capacity(),
            'remaining_tokens' => $this->strictest()->remaining(),
            'retry_after' => is_finite($retryAfter) ? $retryAfter : $never,
            'reset_after' => $this->resetAfter(),
            'wait' => Answer::toSeconds($this->wait()),
            'degraded' => $this->isDegraded(),
            'would_deny' => $this->wouldDeny(),
            'exempt' => $this->holding() === [],
        ];
    }

    public function shown(): array
    {
        $names = ['denied_by' => $this->deniedBy(), 'charged_to' => $this->chargedTo()];
        return $this->toArray(INF) + ['tokens' => $this->tokens()] + $names;
    }
}
