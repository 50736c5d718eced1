<?php

declare(strict_types=1);

namespace TokenBucket;

use TokenBucket\StandIn\Internal\LimiterMethods;
use TokenBucket\StandIn\Internal\TakesUpTo;
use TokenBucket\StandIn\Internal\Thrown;
use TokenBucket\StandIn\Limit;

final class FixedWindow implements Limiter
{
    use LimiterMethods;
    use TakesUpTo;

    public function __construct(
        #[\SensitiveParameter] \TokenBucketStorage|string|null $storage,
        string $identifier,
        int $limit,
        float $interval,
        ?string $name = null,
    ) {
        func_num_args() > 5 && Thrown::tooMany(func_num_args());
        $make = static fn(int $limit, float $interval): Limit\Limit => new Limit\FixedWindow($limit, $interval);
        $arguments = ['limit' => $limit, 'interval' => $interval];
        $this->value = self::makeValue($storage, $identifier, $limit, $interval, $name, $make, $arguments);
    }
}
