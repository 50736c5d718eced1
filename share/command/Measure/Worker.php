<?php
declare(strict_types=1);

namespace TokenBucket\Command\Measure;

use TokenBucket;
use TokenBucket\Command\Channel;
use TokenBucket\StorageException;

/**
 * A process of `token-bucket measure`. It is forked and executes nothing, because its user may be the pool's. It connects, waits for a
 * message, measures, and waits for another one, so that its connection can be looked at.
 */
final class Worker
{
    private const BUCKETS = 100;

    /** @param Channel $command gets arrays as JSON: an empty one once it has connected, then what it has measured; or an error */
    public static function run(string $dsn, string $prefix, int $seconds, Channel $command): never
    {
        try {
            // No call empties these buckets, and their states expire within a minute, also if this process is killed.
            $buckets = array_map(static fn (int $number): TokenBucket => TokenBucket::per($dsn, $prefix . $number, 1_000_000, 60), range(1, self::BUCKETS));
            array_map(static fn (TokenBucket $bucket): bool => $bucket->consume(), $buckets);
            // Without an answer the command has given up.
            if ($command->send('[]') && $command->receive() !== null) {
                $command->send(json_encode(self::measure($buckets, $seconds), JSON_THROW_ON_ERROR));
                $command->receive();
            }
            array_map(static fn (TokenBucket $bucket): mixed => $bucket->reset(), $buckets);
        } catch (StorageException $error) {
            $command->send(json_encode(['error' => $error->getMessage()], JSON_INVALID_UTF8_SUBSTITUTE | JSON_THROW_ON_ERROR));
        }
        exit(0);
    }

    /**
     * @param list<TokenBucket> $buckets
     *
     * @return array{calls: int, decisions: int, seconds: float, processor: float, times: array<int, int>}
     */
    private static function measure(array $buckets, int $seconds): array
    {
        [$times, $decisions, $used] = [[], 0, self::processorSeconds()];
        $begin = $now = hrtime(true);
        for ($end = $begin + $seconds * 1_000_000_000; $now < $end; $decisions++) {
            $before = hrtime(true);
            $buckets[$decisions % self::BUCKETS]->consume();
            $now = hrtime(true);
            // Classes of 2 % put the times of all processes together.
            $class = (int) (log(max(1, $now - $before)) / log(1.02));
            $times[$class] = ($times[$class] ?? 0) + 1;
        }
        return ['calls' => $decisions + self::BUCKETS, 'decisions' => $decisions, 'seconds' => ($now - $begin) / 1e9, 'processor' => self::processorSeconds() - $used, 'times' => $times];
    }

    private static function processorSeconds(): float
    {
        $usage = getrusage() ?: [];
        $seconds = 0.0;
        foreach (['ru_utime', 'ru_stime'] as $time) {
            $seconds += ($usage["$time.tv_sec"] ?? 0) + ($usage["$time.tv_usec"] ?? 0) / 1e6;
        }
        return $seconds;
    }
}
