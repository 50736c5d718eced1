<?php
declare(strict_types=1);

namespace TokenBucket\Command;

use function TokenBucket\statistics;

/** Where else calls are counted: for a command that has found nothing. */
final class Elsewhere
{
    private const MOST_PREFIXES = 3;
    private const MOST_POOLS = 20;
    /** Where statistics('*') has the limits without a place of their own. */
    private const OF_NONE = '*';
    /** The directives by which a pool has limits or counts of its own. A DSN may have a password. */
    private const APART = ['token_bucket.prefix' => true, 'token_bucket.shm_path' => true, 'token_bucket.limits' => true, 'token_bucket.storage' => false];

    /** Says on standard error which prefixes this user has counts under, and which of its pools of php-fpm have counts of their own. --pool has named the right one. */
    public static function warn(Arguments $arguments): void
    {
        if (!$arguments->has('pool')) {
            self::warnOfPrefixes();
            self::warnOfPools();
        }
    }

    private static function warnOfPrefixes(): void
    {
        $own = (string) ini_get('token_bucket.prefix');
        $others = array_values(array_diff(array_map('strval', array_keys(statistics('*'))), [$own, self::OF_NONE]));
        if ($others === []) {
            return;
        }
        $quoted = static fn (string $prefix): string => '"' . Text::printable($prefix) . '"';
        fwrite(STDERR, 'token-bucket: calls are also counted under the prefix ' . implode(', ', array_map($quoted, array_slice($others, 0, self::MOST_PREFIXES))) . self::more($others, self::MOST_PREFIXES) . '; this command shows '
            . $quoted($own) . ". --pool FILE takes a pool's token_bucket.prefix\n");
    }

    private static function warnOfPools(): void
    {
        $own = posix_getpwuid(posix_geteuid())['name'] ?? null;
        $lines = [];
        foreach (Pool::running() as $pool) {
            $apart = array_filter($pool->directives, static fn (string $value, string $name): bool => isset(self::APART[$name]) && $value !== ini_get($name), ARRAY_FILTER_USE_BOTH);
            if ($pool->user === $own && $apart !== []) {
                $settings = array_map(static fn (string $name, string $value): string => self::APART[$name] ? "$name = \"" . Text::printable($value) . '"' : "another $name", array_keys($apart), $apart);
                $lines[] = 'token-bucket: the pool ' . Text::printable($pool->name) . ' has ' . implode(', ', $settings) . ': name it by --pool ' . Text::printable($pool->file) . "\n";
            }
        }
        $more = self::more($lines, self::MOST_POOLS);
        fwrite(STDERR, implode('', array_slice($lines, 0, self::MOST_POOLS)) . ($more === '' ? '' : "token-bucket:$more pools\n"));
    }

    /** @param list<string> $all */
    private static function more(array $all, int $most): string
    {
        return count($all) > $most ? ' and ' . (count($all) - $most) . ' more' : '';
    }
}
