<?php

declare(strict_types=1);

namespace TokenBucket;

final class Permit
{
    use StandIn\CarriesValue;
    use StandIn\HasNoOtherProperties;

    private function __construct() {}

    public function __destruct()
    {
        try {
            $this->value?->release();
        } catch (StorageException $e) {
            StandIn\Mistake::log($e->getMessage());
        }
    }

    public function release(): void
    {
        $this->value(func_num_args())->release();
    }

    public function renew(?float $lifetime = null): ?bool
    {
        try {
            return $this->value(func_num_args(), 1)->renew($lifetime === null ? null : StandIn\Limit::duration($lifetime));
        } catch (StandIn\LimitError $e) {
            throw StandIn\Thrown::value(1, $e->getMessage());
        }
    }
}
