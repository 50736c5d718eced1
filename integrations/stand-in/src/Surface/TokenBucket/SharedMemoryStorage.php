<?php

declare(strict_types=1);

namespace TokenBucket;

use TokenBucket\StandIn\Internal\CarriesStorage;
use TokenBucket\StandIn\Internal\Thrown;

final class SharedMemoryStorage implements \TokenBucketStorage
{
    use CarriesStorage;

    public function __construct(#[\SensitiveParameter] string $dsn = 'shm:')
    {
        func_num_args() > 1 && Thrown::tooMany(func_num_args());
        $this->make($dsn, 'shm', '"shm:"');
    }
}
