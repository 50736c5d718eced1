<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

/** The fixed window: a number of hits in an interval that opens at the first of them. */
final class FixedWindow extends Window
{
    public const SUFFIX = '#w';

    private int $interval;

    public function __construct(int $maxHits, float $interval)
    {
        parent::__construct($maxHits);
        $this->interval = self::duration($interval);
    }

    public function window(): int { return $this->interval; }
    public function endAt(int $now): int { return $now + $this->interval; }

    public function findOpen(int $storedEnd, int $now, Op $op): ?int
    {
        $latest = $op->settles() ? PHP_INT_MAX : $this->endAt($now);
        return $now < $storedEnd ? min($storedEnd, $latest) : null;
    }
}
