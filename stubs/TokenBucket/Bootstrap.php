<?php

namespace TokenBucket;

/**
 * What the closure is bound to that a storage written in PHP gets to make a bucket's record. Never built by users.
 */
final class Bootstrap
{
    private function __construct() {}

    /**
     * Makes the record of a new bucket, from which the call has taken, by the storage's bootstrap().
     *
     * @return bool true: the call is accepted
     */
    public function __invoke(): bool {}
}
