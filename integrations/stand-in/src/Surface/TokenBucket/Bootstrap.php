<?php

declare(strict_types=1);

namespace TokenBucket;

use TokenBucket\StandIn\Internal\CarriesValue;

final class Bootstrap
{
    use CarriesValue;

    private function __construct() {}

    public function __invoke(): bool
    {
        $this->value()->bootstrap();
        return true;
    }
}
