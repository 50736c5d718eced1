<?php

declare(strict_types=1);

namespace TokenBucket;

final class Compound implements Limiter
{
    use StandIn\SetMethods;

    public function __construct(Limiter ...$limiters) { $this->value = StandIn\SetValue::ofArguments($limiters, true); }

    public function consume(int|array $token_count = 1): bool
    {
        func_num_args() > 1 && StandIn\Thrown::tooMany(func_num_args());
        $each = $this->ask('consume', $token_count, 0, false);
        return array_filter($each, static fn(StandIn\LimitDecision $limit): bool => !$limit->isAdmitted()) === [];
    }

    #[\NoDiscard]
    public function attempt(int|array $tokens = 1, int|array $leave = 0): Decision
    {
        func_num_args() > 2 && StandIn\Thrown::tooMany(func_num_args());
        return StandIn\DecisionValue::decision($this->ask('attempt', $tokens, $leave, false));
    }

    public function peek(int|array $tokens = 1, int|array $leave = 0): Decision
    {
        func_num_args() > 2 && StandIn\Thrown::tooMany(func_num_args());
        return StandIn\DecisionValue::decision($this->ask('peek', $tokens, $leave, true));
    }

    /** Takes from all limits if all of them have enough, or looks at them. */
    private function ask(string $method, int|array $tokens, int|array $leave, bool $isPeek): array
    {
        $parts = $this->value()->parts;
        $costs = StandIn\SetValue::counts($tokens, 1, count($parts));
        $leaves = StandIn\SetValue::counts($leave, 2, count($parts));
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
        return $decisions;
    }

    public function refund(int|array $tokens = 1): bool
    {
        $costs = StandIn\SetValue::counts($tokens, 1, count($this->value(func_num_args(), 1)->parts));
        $refunds = $this->value()->changeEach('refund', static fn(int $i): StandIn\Op => new StandIn\Op(StandIn\Op::REFUND, $costs[$i]));
        return array_filter($refunds, static fn(StandIn\LimitDecision $refund): bool => $refund->hasRefunded()) !== [];
    }
}
