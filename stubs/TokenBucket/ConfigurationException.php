<?php

namespace TokenBucket;

/** A DSN or a directive that cannot be used as it is. */
class ConfigurationException extends \InvalidArgumentException implements Throwable
{
}
