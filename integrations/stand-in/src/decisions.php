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
    public function isAccepted(): bool { return $this->answer->isAccepted; }
    public function isCharged(): bool { return $this->answer->isAccepted && $this->answer->taken > 0; }
    public function resetAfter(): float { return $this->answer->resetAfter(); }
    public function capacity(): int { return $this->limit->capacity; }
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

    public function limitName(): string { return $this->of->limitName(); }

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
        $name = '"' . addcslashes(Text::percentEncode($this->limitName()), '"\\') . '"';
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
    public function settle(int $cost, ?Limit $inForce, bool $goesOn): bool
    {
        $op = $this->answer->settle($cost);
        $isForNothing = $this->answer->taken === 0;
        // A call that estimated its cost at nothing is charged what it cost.
        $isCounted = $goesOn && $this->isAccepted() && !$this->isDegraded && !$this->isExempt && $this->asked->kind !== Op::PEEK && $this->asked->needs() === 0;
        if ($isForNothing ? $cost === 0 || !$isCounted : $op->kind === Op::SETTLE && $op->cost === 0) {
            return !$isForNothing;
        }
        if ($isForNothing && ($this->limit instanceof FixedWindow || $this->limit instanceof CalendarWindow) && $this->remaining() === $this->capacity()) {
            // No window was open, so there is none to name.
            $op = new Op(Op::TAKE_UP_TO, $cost);
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

/** The limits that a decision is about, and what they say together. */
final class DecisionValue extends Value
{
    /** The process that made it and may settle it; 0 once it has. */
    private int $settleableBy;
    private int $readyAt;
    /** Whether the application has asked the decision anything. */
    public bool $isAsked = false;
    /** Where the application has made a denied call; null if it is accepted. */
    private ?string $deniedIn = null;

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
        $value = new self($asked, $denying);
        $value->deniedIn = $value->isAdmitted() ? null : Thrown::place();
        return self::wrap(\TokenBucket\Decision::class, $value);
    }

    /** Says once that a denied call has gone on: PHP takes the object for true. */
    public function warnIfUnasked(): void
    {
        if (!$this->isAsked && $this->deniedIn !== null && Mistake::claim('unasked decision')) {
            Mistake::log("a call was denied in $this->deniedIn, but its Decision was never asked. Without the extension a Decision is always true: "
                . 'write if ($limiter->attempt()->isAccepted())');
        }
    }

    /** What a method of each limit returns. */
    private function each(string $method): array
    {
        return array_map(static fn(LimitDecision $limit): mixed => $limit->$method(), $this->asked);
    }

    private static function names(array $limits): array
    {
        return array_map(static fn(LimitDecision $limit): string => $limit->limitName(), array_values($limits));
    }

    private function denying(): array
    {
        return array_filter($this->denying ?? $this->asked, static fn(LimitDecision $limit): bool => !$limit->isAdmitted());
    }

    public function isAdmitted(): bool { return !in_array(false, $this->each('isAdmitted'), true); }
    public function wouldDeny(): bool { return in_array(false, $this->each('isAccepted'), true); }
    public function isDegraded(): bool { return in_array(true, array_column($this->asked, 'isDegraded'), true); }
    public function tokens(): int { return $this->isAdmitted() ? min($this->each('tokens')) : 0; }
    public function retryAfter(): float { return max($this->each('retryAfter')); }
    public function resetAfter(): float { return max($this->each('resetAfter')); }

    public function retryAfterSeconds(): ?int
    {
        $each = $this->each('retryAfterSeconds');
        return in_array(null, $each, true) ? null : max($each);
    }

    /** The names of the limits that deny the call. */
    public function deniedBy(): array { return self::names($this->denying()); }

    /** The names of the limits that the call has taken something of. */
    public function chargedTo(): array
    {
        return self::names(array_filter($this->asked, static fn(LimitDecision $limit): bool => $limit->isCharged()));
    }

    /** The limits that hold for the client. */
    public function holding(): array
    {
        return array_values(array_filter($this->asked, static fn(LimitDecision $limit): bool => !$limit->isExempt));
    }

    /** The limit with the fewest tokens left, of those that hold for the client if any does. */
    public function strictest(): LimitDecision
    {
        $limits = $this->holding() ?: [$this->asked[0]];
        usort($limits, static fn(LimitDecision $a, LimitDecision $b): int => $a->remaining() <=> $b->remaining());
        return $limits[0];
    }

    /** How long a reservation has to wait, in nanoseconds. */
    public function wait(): int { return max($this->each('wait')); }

    /** What is left of that; no more than all, for a test may have frozen the clock or let it run since. */
    public function waitLeft(): int { return min(max(0, $this->readyAt - Clock::now()), $this->wait()); }

    /** Sleeps for what is left. A signal ends one sleep, but not the wait. */
    public function sleep(): void
    {
        while (($left = $this->waitLeft()) > 0) {
            usleep(max(1, min(intdiv($left, 1_000), 999_999)));
        }
    }

    /** Why the limits deny the call. */
    public function problem(): int { return max(array_map(static fn(LimitDecision $limit): int => $limit->problem(), $this->denying())); }

    /** What a person is told of a denied call. */
    public function detail(): string
    {
        $seconds = $this->retryAfterSeconds();
        $up = static fn(int $unit): int => intdiv($seconds + $unit - 1, $unit);
        // Of a long time an hour or a day may be much.
        $inTwo = static fn(string $units, string $part, int $parts, int $rest): string => "Try again in " . intdiv($parts, $rest) . " $units"
            . ($parts % $rest === 0 ? '' : ' ' . $parts % $rest . " $part" . ($parts % $rest === 1 ? '' : 's')) . '.';
        return match (true) {
            $seconds === null => 'The request is larger than the limit allows at any time.',
            $seconds === 1 => 'Try again in 1 second.',
            $seconds < 120 => "Try again in $seconds seconds.",
            $seconds < 7_200 => "Try again in {$up(60)} minutes.",
            $seconds < 172_800 => $inTwo('hours', 'minute', $up(60), 60),
            default => $inTwo('days', 'hour', $up(3_600), 24),
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
        $goesOn = array_filter($this->asked, static fn(LimitDecision $limit): bool => !$limit->isAdmitted()) === [];
        $done = [];
        foreach ($isFirst && $this->denying === null ? $this->asked : [] as $i => $limit) {
            $done[] = $limit->settle(is_array($costs) ? $costs[$i] : $costs, $limit->inForce($inForce), $goesOn);
        }
        return in_array(true, $done, true);
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

namespace TokenBucket;

/** Plain PHP cannot make an object false: as a bool it is true, also where the call is denied. Ask isAccepted(). */
final class Decision implements \JsonSerializable
{
    use StandIn\CarriesValue { value as private carriedValue; }
    use StandIn\HasNoOtherProperties;

    private const PROBLEMS = [
        StandIn\LimitDecision::REDUCED_CAPACITY => ['temporary-reduced-capacity', 'The service has less capacity for a while', 503],
        StandIn\LimitDecision::QUOTA_EXCEEDED => ['quota-exceeded', 'Too many requests', 429],
        StandIn\LimitDecision::ABNORMAL_USAGE => ['abnormal-usage-detected', 'Blocked after unusual use', 429],
    ];

    private function __construct() {}

    public function __destruct() { $this->value?->warnIfUnasked(); }

    private function value(int $given = 0, int $most = 0): StandIn\DecisionValue
    {
        $value = $this->carriedValue($given, $most);
        $value->isAsked = true;
        return $value;
    }

    public function isAccepted(): bool { return $this->value(func_num_args())->isAdmitted(); }
    public function getLimit(): int { return $this->value(func_num_args())->strictest()->capacity(); }
    public function getTokens(): int { return $this->value(func_num_args())->tokens(); }
    public function getRemainingTokens(): int { return $this->value(func_num_args())->strictest()->remaining(); }
    public function getUsedTokens(): int { return $this->value(func_num_args())->strictest()->capacity() - $this->getRemainingTokens(); }
    public function getRetryAfter(): float { return $this->value(func_num_args())->retryAfter(); }
    public function getRetryAfterSeconds(): ?int { return $this->value(func_num_args())->retryAfterSeconds(); }
    public function getResetAfter(): float { return $this->value(func_num_args())->resetAfter(); }
    public function getWait(): float { return StandIn\Answer::toSeconds($this->value(func_num_args())->wait()); }

    public function wait(): bool
    {
        $left = $this->value(func_num_args())->waitLeft();
        if (StandIn\Clock::$frozen !== null) {
            // A frozen clock moves on instead of the test.
            StandIn\Clock::$frozen = min(StandIn\Clock::$frozen + $left, StandIn\Limit::MAX_NOW);
            return $this->isAccepted();
        }
        $this->value()->sleep();
        return $this->isAccepted();
    }

    public function ensureAccepted(): static
    {
        $value = $this->value(func_num_args());
        if ($value->isAdmitted()) {
            return $this;
        }
        $names = implode(', ', array_map([StandIn\Text::class, 'percentEncode'], $value->deniedBy()));
        $advice = $value->retryAfterSeconds() === null ? ' Take the limit at most, and settle() what it costs.' : '';
        $exception = (new \ReflectionClass(LimitExceededException::class))->newInstanceWithoutConstructor();
        $set = function (string $message, Decision $decision): void {
            [$this->message, $this->decision] = [$message, $decision];
        };
        \Closure::bind($set, $exception, LimitExceededException::class)("Denied by $names. {$value->detail()}$advice", $this);
        throw StandIn\Thrown::at($exception);
    }

    public function getDeniedBy(): array { return $this->value(func_num_args())->deniedBy(); }
    public function getChargedTo(): array { return $this->value(func_num_args())->chargedTo(); }

    public function getHeaders(): array
    {
        $fields = array_map(static fn(StandIn\LimitDecision $limit): array => $limit->fields(), $this->value(func_num_args())->holding());
        if ($fields === []) {
            return [];
        }
        $seconds = $this->getRetryAfterSeconds();
        return [
            'RateLimit-Policy' => implode(', ', array_column($fields, 0)),
            'RateLimit' => implode(', ', array_column($fields, 1)),
        ] + ($seconds > 0 ? ['Retry-After' => (string) $seconds] : []);
    }

    public function getProblem(): array
    {
        if ($this->isAccepted()) {
            throw StandIn\Thrown::logic('getProblem() describes a denied call; this one was accepted');
        }
        [$type, $title, $status] = self::PROBLEMS[$this->value(func_num_args())->problem()];
        return [
            'type' => "https://iana.org/assignments/http-problem-types#$type",
            'title' => $title,
            'status' => $status,
            'detail' => $this->value()->detail(),
            'violated-policies' => array_map([StandIn\Text::class, 'percentEncode'], $this->getDeniedBy()),
        ];
    }

    public function isDegraded(): bool { return $this->value(func_num_args())->isDegraded(); }
    public function isExempt(): bool { return $this->value(func_num_args())->holding() === []; }
    public function wouldDeny(): bool { return $this->value(func_num_args())->wouldDeny(); }

    public function settle(int|array $tokens): ?bool
    {
        // A denied call took nothing, and knows only the limits that were asked.
        $value = $this->value(func_num_args(), 1);
        return $value->settle('settle', StandIn\SetValue::counts($tokens, 1, $value->isAdmitted() ? $value->asked : null));
    }

    public function refund(): ?bool { return $this->value(func_num_args())->settle('refund', 0); }

    public function jsonSerialize(): array { return $this->value(func_num_args())->toArray(null); }
}
