<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

use TokenBucket\Command\Restart;

/** Starts this command again where PHP was started without the test clock, which no script can switch on. */
final class TestClockProcess
{
    /** Below this folder, which cannot exist, no statistics are kept: a replay does not count as traffic of this host. */
    private const NO_FOLDER = '/proc/token-bucket-find-limit';

    public static function ensure(): void
    {
        Restart::with(['token_bucket.test_clock' => '1', 'token_bucket.warn_of_mistakes' => '0', 'token_bucket.shm_path' => self::NO_FOLDER]);
    }
}
