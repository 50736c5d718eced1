<?php

namespace TokenBucket;

/** Thrown if a storage cannot be opened, or a server does not answer and token_bucket.on_error is "throw". */
class StorageException extends \RuntimeException implements TokenBucketException
{
}
