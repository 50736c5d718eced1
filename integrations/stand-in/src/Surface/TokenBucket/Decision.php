<?php

declare(strict_types=1);

namespace TokenBucket;

/** Plain PHP cannot make an object false: as a bool it is true, also where the call is denied. Ask isAccepted(). */
final class Decision implements \JsonSerializable
{
    use StandIn\CarriesValue;
    use StandIn\HasNoOtherProperties;

    private const PROBLEMS = [
        StandIn\LimitDecision::REDUCED_CAPACITY => ['temporary-reduced-capacity', 'The service has less capacity for a while', 503],
        StandIn\LimitDecision::QUOTA_EXCEEDED => ['quota-exceeded', 'Too many requests', 429],
        StandIn\LimitDecision::ABNORMAL_USAGE => ['abnormal-usage-detected', 'Blocked after unusual use', 429],
    ];

    private function __construct() {}

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
        while (($left = $this->value()->waitLeft()) > 0) {
            // A signal ends the sleep, but not the wait.
            function_exists('usleep') ? \usleep(max(1, min(intdiv($left, 1_000), 1_000_000))) : time_nanosleep(0, min($left, 100_000_000));
        }
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
            throw StandIn\Thrown::at(new \LogicException('getProblem() describes a denied call; this one was accepted'));
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
        $limits = $this->isAccepted() ? count($this->value(func_num_args(), 1)->asked) : null;
        return $this->value()->settle('settle', StandIn\SetValue::counts($tokens, 1, $limits));
    }

    public function refund(): ?bool
    {
        return $this->value(func_num_args())->settle('refund', 0);
    }

    public function jsonSerialize(): array { return $this->value(func_num_args())->toArray(null); }
}
