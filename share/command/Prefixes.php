<?php
declare(strict_types=1);

namespace TokenBucket\Command;

use function TokenBucket\statistics;

/** The values of token_bucket.prefix under which calls are counted on this host. */
final class Prefixes
{
    private const MOST = 3;
    /** Where statistics('*') has the limits without a place of their own. */
    private const OF_NONE = '*';

    /** Says on standard error which others there are, for a command that has found nothing under its own. --pool has named the right one. */
    public static function warn(Arguments $arguments): void
    {
        $own = (string) ini_get('token_bucket.prefix');
        $others = array_values(array_diff(array_map('strval', array_keys(statistics('*'))), [$own, self::OF_NONE]));
        if ($others === [] || $arguments->has('pool')) {
            return;
        }
        $quoted = static fn (string $prefix): string => '"' . Text::printable($prefix) . '"';
        $more = count($others) > self::MOST ? ' and ' . (count($others) - self::MOST) . ' more' : '';
        fwrite(STDERR, 'token-bucket: calls are counted under the prefix ' . implode(', ', array_map($quoted, array_slice($others, 0, self::MOST))) . "$more, too; this command is about "
            . $quoted($own) . ". --pool FILE takes a pool's token_bucket.prefix\n");
    }
}
