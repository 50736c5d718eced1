<?php

declare(strict_types=1);

namespace TokenBucket;

final class Bootstrap
{
    use StandIn\CarriesValue;
    use StandIn\HasNoOtherProperties;

    private function __construct() {}

    public function __invoke(): bool
    {
        $this->value(func_num_args())->bootstrap();
        return true;
    }
}
