<?php

declare(strict_types=1);

namespace TokenBucket\Laravel;

use TokenBucket\Compound;
use TokenBucket\Decision;

/** The limits of one request or job, which are charged all or none. */
final class LimitSet
{
    /** @var list<AppliedLimit> */
    private array $limits;

    /**
     * @param string $name what statistics() counts the limits under; of several, each has its number behind it
     * @param list<AppliedLimit> $limits
     */
    public function __construct(private Windows $windows, private string $name, array $limits)
    {
        $limits = array_filter($limits, static fn (AppliedLimit $limit) => !$limit->isUnlimited());
        $this->limits = self::withDistinctKeys($limits);
    }

    public function charge(): Charge
    {
        foreach ($this->limits as $limit) {
            if ($limit->maxAttempts < 1) {
                return Charge::denied($limit, (int) ceil($limit->decaySeconds));
            }
        }
        $charged = [];
        foreach ($this->groups() as $group) {
            $decision = $this->attempt($group);
            if (!$decision->isAccepted()) {
                foreach ($charged as $part) {
                    $part->decision->refund();
                }
                $denier = $this->denier($group, $decision);

                return Charge::denied($denier, $decision->getRetryAfterSeconds() ?? (int) ceil($denier->decaySeconds));
            }
            $charged[] = new ChargedGroup($decision, reset($group)->afterCallback);
        }

        return Charge::accepted($charged);
    }

    /**
     * Several limits on one key would share a window, so each gets a key of its own, as later versions of Laravel do.
     *
     * @param array<AppliedLimit> $limits
     * @return list<AppliedLimit>
     */
    private static function withDistinctKeys(array $limits): array
    {
        $uses = array_count_values(array_map(static fn (AppliedLimit $limit) => $limit->key, $limits));
        $distinct = [];
        foreach ($limits as $limit) {
            $own = $uses[$limit->key] > 1 ? $limit->withOwnKey() : $limit;
            $distinct[$own->key] ??= $own;
        }

        return array_values($distinct);
    }

    /**
     * Limits with after() are charged one by one, because each may be given back by itself; all others at once.
     *
     * @return list<non-empty-array<int, AppliedLimit>> each limit with its place in the set
     */
    private function groups(): array
    {
        $plain = array_filter($this->limits, static fn (AppliedLimit $limit) => $limit->afterCallback === null);
        $groups = $plain === [] ? [] : [$plain];
        foreach (array_diff_key($this->limits, $plain) as $place => $limit) {
            $groups[] = [$place => $limit];
        }

        return $groups;
    }

    /** @param non-empty-array<int, AppliedLimit> $group */
    private function attempt(array $group): Decision
    {
        $windows = [];
        foreach ($group as $place => $limit) {
            $windows[] = $this->windows->window($limit->key, $limit->maxAttempts, $limit->decaySeconds, $this->nameOf($place));
        }

        return count($windows) === 1 ? $windows[0]->attempt() : (new Compound(...$windows))->attempt();
    }

    /**
     * The first limit of the group that denied.
     *
     * @param non-empty-array<int, AppliedLimit> $group
     */
    private function denier(array $group, Decision $decision): AppliedLimit
    {
        $names = $decision->getDeniedBy();
        foreach ($group as $place => $limit) {
            if (in_array($this->nameOf($place), $names, true)) {
                return $limit;
            }
        }

        return reset($group);
    }

    private function nameOf(int $place): string
    {
        return count($this->limits) === 1 ? $this->name : $this->name . '-' . ($place + 1);
    }
}
