<?php

declare(strict_types=1);

namespace TokenBucket\Laravel;

use Illuminate\Support\Carbon;
use TokenBucket\TestClock;

/**
 * Makes the extension's clock follow Carbon's, so that tests travel in time. Does nothing without token_bucket.test_clock=1.
 *
 * It follows Carbon's running time, too, because the extension's own clock counts from the host's start: a test that begins in
 * running time and then travels would see two clocks that are decades apart.
 */
final class CarbonClock
{
    private bool $isAllowed;

    public function __construct()
    {
        $this->isAllowed = filter_var(ini_get('token_bucket.test_clock') ?: get_cfg_var('token_bucket.test_clock'), FILTER_VALIDATE_BOOLEAN);
    }

    public function follow(): void
    {
        if ($this->isAllowed) {
            TestClock::freeze((float) Carbon::now()->format('U.u'));
        }
    }
}
