<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

/** A log in no format that is found. */
final class UnknownFormat extends \Exception
{
    public function __construct(string $reason, public readonly string $sample)
    {
        parent::__construct($reason);
    }
}
