<?php

declare(strict_types=1);

namespace TokenBucket;

final class ArrayStorage implements \TokenBucketStorage
{
    use StandIn\CarriesStorage;

    public function __construct(#[\SensitiveParameter] string $dsn = 'array:')
    {
        func_num_args() > 1 && StandIn\Thrown::tooMany(func_num_args());
        $this->make($dsn, 'array', '"array:"');
    }
}
