<?php

namespace TokenBucket;

/** A store that cannot be opened or does not answer. */
class StorageException extends \RuntimeException implements Throwable
{
}
