<?php

declare(strict_types=1);

namespace TokenBucket;

use TokenBucket\StandIn\Internal\CarriesValue;
use TokenBucket\StandIn\Internal\Thrown;
use TokenBucket\StandIn\Limit\Limit;
use TokenBucket\StandIn\Limit\LimitError;

final class Permit
{
    use CarriesValue;

    private function __construct() {}

    public function __destruct()
    {
        try {
            $this->value?->release();
        } catch (StorageException $e) {
            error_log("token_bucket: {$e->getMessage()}");
        }
    }

    public function release(): void
    {
        func_num_args() > 0 && Thrown::tooMany(func_num_args());
        $this->value()->release();
    }

    public function renew(?float $lifetime = null): ?bool
    {
        func_num_args() > 1 && Thrown::tooMany(func_num_args());
        try {
            return $this->value()->renew($lifetime === null ? null : Limit::duration($lifetime));
        } catch (LimitError $e) {
            throw Thrown::value(1, $e->getMessage());
        }
    }
}
