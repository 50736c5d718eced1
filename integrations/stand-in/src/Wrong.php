<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

/** A mistake in the file of limits, and its line, if it is in one. */
final class Wrong extends \Exception
{
    public function __construct(public string $what, public ?int $in = null)
    {
        parent::__construct($in === null ? $what : "line $in: $what");
    }
}
