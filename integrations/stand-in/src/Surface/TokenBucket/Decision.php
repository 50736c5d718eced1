<?php

declare(strict_types=1);

namespace TokenBucket;

use TokenBucket\StandIn\Internal\CarriesValue;
use TokenBucket\StandIn\Internal\Clock;
use TokenBucket\StandIn\Internal\LimitDecision;
use TokenBucket\StandIn\Internal\SetValue;
use TokenBucket\StandIn\Internal\Text;
use TokenBucket\StandIn\Internal\Thrown;
use TokenBucket\StandIn\Limit\Answer;
use TokenBucket\StandIn\Limit\Limit;

/** Plain PHP cannot make an object false: as a bool it is true, also where the call is denied. Ask isAccepted(). */
final class Decision implements \JsonSerializable
{
    use CarriesValue;

    private const PROBLEMS = [
        LimitDecision::REDUCED_CAPACITY => ['temporary-reduced-capacity', 'The service has less capacity for a while', 503],
        LimitDecision::QUOTA_EXCEEDED => ['quota-exceeded', 'Too many requests', 429],
        LimitDecision::ABNORMAL_USAGE => ['abnormal-usage-detected', 'Blocked after unusual use', 429],
    ];

    private function __construct() {}

    public function isAccepted(): bool
    {
        return $this->value()->isAdmitted();
    }

    public function getLimit(): int
    {
        return $this->value()->strictest()->capacity();
    }

    public function getTokens(): int
    {
        return $this->value()->tokens();
    }

    public function getRemainingTokens(): int
    {
        return $this->value()->strictest()->remaining();
    }

    public function getUsedTokens(): int
    {
        return $this->getLimit() - $this->getRemainingTokens();
    }

    public function getRetryAfter(): float
    {
        return $this->value()->retryAfter();
    }

    public function getRetryAfterSeconds(): ?int
    {
        return $this->value()->retryAfterSeconds();
    }

    public function getResetAfter(): float
    {
        return $this->value()->resetAfter();
    }

    public function getWait(): float
    {
        return Answer::toSeconds($this->value()->wait());
    }

    public function wait(): bool
    {
        if (Clock::$frozen !== null) {
            Clock::$frozen = min(Clock::$frozen + $this->value()->waitLeft(), Limit::MAX_NOW);
        }
        while (($left = $this->value()->waitLeft()) > 0) {
            // A signal ends the sleep, but not the wait.
            usleep(max(1, min(intdiv($left, 1_000), 1_000_000)));
        }
        return $this->isAccepted();
    }

    public function ensureAccepted(): static
    {
        if ($this->isAccepted()) {
            return $this;
        }
        $value = $this->value();
        $names = implode(', ', array_map([Text::class, 'percentEncode'], $value->deniedBy()));
        $advice = $value->retryAfterSeconds() === null ? ' Take the limit at most, and settle() what it costs.' : '';
        $exception = (new \ReflectionClass(LimitExceededException::class))->newInstanceWithoutConstructor();
        $set = function (string $message, Decision $decision): void {
            [$this->message, $this->decision] = [$message, $decision];
        };
        \Closure::bind($set, $exception, LimitExceededException::class)("Denied by $names. {$value->detail()}$advice", $this);
        throw Thrown::at($exception);
    }

    public function getDeniedBy(): array
    {
        return $this->value()->deniedBy();
    }

    public function getChargedTo(): array
    {
        return $this->value()->chargedTo();
    }

    public function getHeaders(): array
    {
        $fields = array_map(static fn(LimitDecision $limit): array => $limit->fields(), $this->value()->asked);
        $seconds = $this->getRetryAfterSeconds();
        return [
            'RateLimit-Policy' => implode(', ', array_column($fields, 0)),
            'RateLimit' => implode(', ', array_column($fields, 1)),
        ] + ($seconds > 0 ? ['Retry-After' => (string) $seconds] : []);
    }

    public function getProblem(): array
    {
        if ($this->isAccepted()) {
            throw Thrown::at(new \LogicException('getProblem() describes a denied call; this one was accepted'));
        }
        [$type, $title, $status] = self::PROBLEMS[$this->value()->problem()];
        return [
            'type' => "https://iana.org/assignments/http-problem-types#$type",
            'title' => $title,
            'status' => $status,
            'detail' => $this->value()->detail(),
            'violated-policies' => array_map([Text::class, 'percentEncode'], $this->getDeniedBy()),
        ];
    }

    public function isDegraded(): bool
    {
        return $this->value()->isDegraded();
    }

    public function wouldDeny(): bool
    {
        return $this->value()->wouldDeny();
    }

    public function settle(int|array $tokens): ?bool
    {
        func_num_args() > 1 && Thrown::tooMany(func_num_args());
        // A denied call took nothing, and knows only the limits that were asked.
        $limits = $this->isAccepted() ? count($this->value()->asked) : null;
        return $this->value()->settle('settle', SetValue::counts($tokens, 1, $limits));
    }

    public function refund(): ?bool
    {
        func_num_args() > 0 && Thrown::tooMany(func_num_args());
        return $this->value()->settle('refund', 0);
    }

    public function jsonSerialize(): array
    {
        return $this->value()->toArray(null);
    }
}
