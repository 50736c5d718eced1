<?php

declare(strict_types=1);

namespace TokenBucket\Laravel;

/** What became of a request or a job: all its limits were charged, or none. */
final class Charge
{
    /**
     * @param list<ChargedGroup> $groups
     * @param AppliedLimit|null $deniedBy null: accepted
     * @param int $retryAfter whole seconds
     */
    private function __construct(
        public readonly array $groups,
        public readonly ?AppliedLimit $deniedBy,
        public readonly int $retryAfter
    ) {
    }

    /** @param list<ChargedGroup> $groups */
    public static function accepted(array $groups): self
    {
        return new self($groups, null, 0);
    }

    public static function denied(AppliedLimit $by, int $retryAfter): self
    {
        return new self([], $by, $retryAfter);
    }
}
