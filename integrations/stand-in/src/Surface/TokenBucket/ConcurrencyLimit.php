<?php

declare(strict_types=1);

namespace TokenBucket;

final class ConcurrencyLimit
{
    use StandIn\CarriesValue;

    public function __construct(
        #[\SensitiveParameter] \TokenBucketStorage|string|null $storage,
        string $identifier,
        int $limit,
        float $lifetime = 60.0,
        ?string $name = null,
    ) {
        func_num_args() > 5 && StandIn\Thrown::tooMany(func_num_args());
        $backend = StandIn\Limiter::ofArgument($storage);
        StandIn\Thrown::unlessIdentifier($identifier);
        try {
            StandIn\PermitsValue::check($limit, $lifetime);
        } catch (StandIn\LimitError $e) {
            throw StandIn\Thrown::limit($e, 3, 4);
        }
        if (!$backend instanceof StandIn\Limiter) {
            throw StandIn\Thrown::at(new ConfigurationException(
                'TokenBucket\ConcurrencyLimit needs a storage on shared memory (shm:), on array: or on Redis (redis: and its like); '
                    . 'memcached, MariaDB and MySQL, and storages written in PHP hold no permits',
            ));
        }
        $this->value = new StandIn\PermitsValue($backend, $identifier, $limit, $lifetime);
        StandIn\Mistake::warnOfMilliseconds('$lifetime', $lifetime);
    }

    #[\NoDiscard]
    public function acquire(int $leave = 0): ?Permit
    {
        return $this->value(func_num_args(), 1)->acquire(StandIn\Thrown::unlessCount($leave));
    }

    public function getActive(): int
    {
        return $this->value(func_num_args())->active();
    }

    public function reset(): void
    {
        $this->value(func_num_args())->reset();
    }
}
