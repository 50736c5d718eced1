<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

use TokenBucket\Command\CommandError;

/** Starts this command again where PHP was started without the test clock, which no script can switch on. */
final class TestClockProcess
{
    /** Below this folder, which cannot exist, no statistics are kept: a replay does not count as traffic of this host. */
    private const NO_FOLDER = '/proc/token-bucket-find-limit';
    private const DIRECTIVES = ['token_bucket.test_clock' => '1', 'token_bucket.shm_path' => self::NO_FOLDER];
    private const MARK = 'TOKEN_BUCKET_TEST_CLOCK';

    public static function ensure(): void
    {
        $missing = array_filter(self::DIRECTIVES, static fn (string $value, string $name): bool => ini_get($name) !== $value, ARRAY_FILTER_USE_BOTH);
        if ($missing === []) {
            putenv(self::MARK);
            return;
        }
        $options = [];
        foreach (self::DIRECTIVES as $name => $value) {
            array_push($options, '-d', "$name=$value");
        }
        // The words of this process, such as -d extension=..., are PHP's; $argv has only those of the script.
        $words = explode("\0", substr((string) @file_get_contents('/proc/self/cmdline'), 0, -1));
        // The last of two -d counts, so these stand right before the script.
        array_splice($words, -count($_SERVER['argv']), 0, $options);
        if (getenv(self::MARK) === false && PHP_BINARY !== '') {
            pcntl_exec(PHP_BINARY, array_slice($words, 1), [...getenv(), self::MARK => '1']);
        }
        throw new CommandError("cannot start PHP again with the test clock; start it so:\n    php " . implode(' ', $options) . ' bin/token-bucket find-limit ...');
    }
}
