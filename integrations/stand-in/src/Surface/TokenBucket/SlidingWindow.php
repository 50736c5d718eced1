<?php

declare(strict_types=1);

namespace TokenBucket;

final class SlidingWindow implements Limiter
{
    use StandIn\LimiterMethods;
    use StandIn\TakesUpTo;

    public function __construct(
        #[\SensitiveParameter] \TokenBucketStorage|string|null $storage,
        string $identifier,
        int $limit,
        float $interval,
        ?string $name = null,
    ) {
        func_num_args() > 5 && StandIn\Thrown::tooMany(func_num_args());
        $make = static fn(int $limit, float $interval): StandIn\Limit => new StandIn\SlidingWindow($limit, $interval);
        $arguments = ['limit' => $limit, 'interval' => $interval];
        $this->value = self::makeValue($storage, $identifier, $limit, $interval, $name, $make, $arguments);
    }
}
