<?php

declare(strict_types=1);

namespace TokenBucket;

final class MemcachedStorage implements \TokenBucketStorage
{
    use StandIn\CarriesStorage;

    public function __construct(#[\SensitiveParameter] string $dsn)
    {
        func_num_args() > 1 && StandIn\Thrown::tooMany(func_num_args());
        $this->make($dsn, 'memcached', '"memcached:"');
    }
}
