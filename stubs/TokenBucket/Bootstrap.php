<?php

namespace TokenBucket;

/**
 * The object behind the closure that a storage written in PHP gets in consume(). Only the extension makes such objects.
 */
final class Bootstrap
{
    private function __construct() {}

    /**
     * Calls the storage's bootstrap() for a new bucket, from which the current call has already taken its tokens.
     *
     * @return bool true: the call is accepted
     */
    public function __invoke(): bool {}
}
