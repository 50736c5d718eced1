<?php

declare(strict_types=1);

namespace TokenBucket;

final class LimitExceededException extends \RuntimeException implements TokenBucketException
{
    private ?Decision $decision = null;

    private function __construct() {}

    public function getDecision(): Decision { return func_num_args() > 0 ? StandIn\Thrown::tooMany(func_num_args()) : $this->decision; }

    public function __clone() { throw new \Error('Trying to clone an uncloneable object of class ' . self::class); }
}
