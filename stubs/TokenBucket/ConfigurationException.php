<?php

namespace TokenBucket;

/** Thrown for a DSN or a directive that is invalid. */
class ConfigurationException extends \InvalidArgumentException implements TokenBucketException
{
}
