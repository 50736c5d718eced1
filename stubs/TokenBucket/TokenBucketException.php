<?php

namespace TokenBucket;

/** Implemented by all exception classes of this extension. */
interface TokenBucketException extends \Throwable
{
}
