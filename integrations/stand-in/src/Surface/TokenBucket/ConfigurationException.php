<?php

declare(strict_types=1);

namespace TokenBucket;

class ConfigurationException extends \InvalidArgumentException implements TokenBucketException {}
