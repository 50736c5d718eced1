<?php

namespace TokenBucket;

/** Thrown by Decision::ensureAccepted() for a denied call. The message names the limits that deny, and when to try again. */
final class LimitExceededException extends \RuntimeException implements TokenBucketException
{
    private $decision;

    /** The decision, which is not accepted. */
    public function getDecision(): Decision {}

    private function __construct() {}
}
