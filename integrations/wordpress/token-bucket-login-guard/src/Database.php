<?php
declare(strict_types=1);

namespace TokenBucket\WordPress;

/** WordPress's database. */
final class Database
{
    /** Runs a query that may fail: WordPress neither shows nor logs the error, which would contain what a client wrote. */
    public static function quietly(callable $query): mixed
    {
        global $wpdb;
        $suppressed = $wpdb->suppress_errors(true);
        try {
            return $query();
        } finally {
            $wpdb->suppress_errors($suppressed);
        }
    }

    /** @param list<int|string> $values */
    public static function query(string $sql, array $values): int|bool
    {
        global $wpdb;
        return self::quietly(fn () => $wpdb->query($wpdb->prepare($sql, $values)));
    }
}
