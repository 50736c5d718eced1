<?php

declare(strict_types=1);

namespace TokenBucket;

interface TokenBucketException extends \Throwable {}
