<?php

declare(strict_types=1);

namespace TokenBucket;

final class SharedMemoryStorage implements \TokenBucketStorage
{
    use StandIn\CarriesStorage;

    public function __construct(#[\SensitiveParameter] string $dsn = 'shm:')
    {
        func_num_args() > 1 && StandIn\Thrown::tooMany(func_num_args());
        $this->make($dsn, 'shm', '"shm:"');
    }
}
