<?php

declare(strict_types=1);

namespace TokenBucket;

use TokenBucket\StandIn\Internal\CarriesValue;
use TokenBucket\StandIn\Internal\Limiter as Backend;
use TokenBucket\StandIn\Internal\Mistake;
use TokenBucket\StandIn\Internal\PermitsValue;
use TokenBucket\StandIn\Internal\Thrown;
use TokenBucket\StandIn\Limit\LimitError;

final class ConcurrencyLimit
{
    use CarriesValue;

    public function __construct(
        #[\SensitiveParameter] \TokenBucketStorage|string|null $storage,
        string $identifier,
        int $limit,
        float $lifetime = 60.0,
        ?string $name = null,
    ) {
        func_num_args() > 5 && Thrown::tooMany(func_num_args());
        $backend = Backend::ofArgument($storage);
        Thrown::unlessIdentifier($identifier);
        try {
            PermitsValue::check($limit, $lifetime);
        } catch (LimitError $e) {
            throw Thrown::limit($e, 3, 4);
        }
        if (!$backend instanceof Backend) {
            throw Thrown::at(new ConfigurationException(
                'TokenBucket\ConcurrencyLimit needs a storage on shared memory (shm:), on array: or on Redis (redis: and its like); '
                    . 'memcached, MariaDB and MySQL, and storages written in PHP hold no permits',
            ));
        }
        $this->value = new PermitsValue($backend, $identifier, $limit, $lifetime);
        Mistake::warnOfMilliseconds('$lifetime', $lifetime);
    }

    #[\NoDiscard]
    public function acquire(int $leave = 0): ?Permit
    {
        func_num_args() > 1 && Thrown::tooMany(func_num_args());
        return $this->value()->acquire(Thrown::unlessCount($leave));
    }

    public function getActive(): int
    {
        func_num_args() > 0 && Thrown::tooMany(func_num_args());
        return $this->value()->active();
    }

    public function reset(): void
    {
        func_num_args() > 0 && Thrown::tooMany(func_num_args());
        $this->value()->reset();
    }
}
