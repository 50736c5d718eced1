<?php

declare(strict_types=1);

namespace TokenBucket;

final class LimitExceededException extends \RuntimeException implements TokenBucketException
{
    private ?Decision $decision = null;

    private function __construct() {}

    public function getDecision(): Decision { return $this->decision; }
}
