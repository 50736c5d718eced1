<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

/** A mistake in the file of limits, and its line, if it is in one. */
final class Wrong extends \Exception
{
    public function __construct(string $message, ?int $line = null)
    {
        parent::__construct($line === null ? $message : "line $line: $message");
    }
}
