<?php
declare(strict_types=1);

namespace TokenBucket\Command\Measure;

use TokenBucket\Command\Channel;
use TokenBucket\Command\CommandError;

/** One measurement: several processes that ask a server at the same time. */
final class Run
{
    /**
     * @return array{processes: int, decisions: int, per_second: float, median_seconds: float, percentile_99_seconds: float, cores: float, host_busy: float, bytes_sent: float|null, bytes_received: float|null}
     *
     * @throws CommandError if a process cannot be started, or the server does not answer
     */
    public static function of(string $dsn, string $prefix, int $count, int $seconds, SocketBytes $bytes): array
    {
        $channels = [];
        try {
            for ($number = 1; $number <= $count; $number++) {
                [$ours, $theirs] = Channel::pair();
                $process = pcntl_fork();
                if ($process === 0) {
                    // Or a process would not notice that the command has ended.
                    foreach ([...$channels, $ours, $bytes] as $open) {
                        $open->close();
                    }
                    Worker::run($dsn, "$prefix$count.$number:", $seconds, $theirs);
                }
                $theirs->close();
                $channels[$process] = $process === -1 ? throw new CommandError('cannot start another process') : $ours;
            }
            // All have connected before the first one begins.
            array_map(self::read(...), $channels);
            $before = self::processorTimes();
            array_map(static fn (Channel $channel): bool => $channel->send('go'), $channels);
            $results = array_values(array_map(self::read(...), $channels));
            $after = self::processorTimes();
            [$sent, $received] = $bytes->of(array_keys($channels));
        } finally {
            // They reset their buckets and end.
            foreach ($channels as $channel) {
                $channel->close();
            }
            foreach (array_keys($channels) as $process) {
                pcntl_waitpid($process, $status);
            }
        }
        $calls = array_sum(array_column($results, 'calls'));
        return [
            'processes' => $count,
            'decisions' => (int) array_sum(array_column($results, 'decisions')),
            'per_second' => array_sum(array_map(static fn (array $result): float => $result['decisions'] / $result['seconds'], $results)),
            'median_seconds' => self::quantile($results, 0.5),
            'percentile_99_seconds' => self::quantile($results, 0.99),
            'cores' => array_sum(array_map(static fn (array $result): float => $result['processor'] / $result['seconds'], $results)),
            'host_busy' => 1 - ($after['idle'] - $before['idle']) / max(1, $after['all'] - $before['all']),
            'bytes_sent' => $sent > 0 ? $sent / $calls : null,
            'bytes_received' => $sent > 0 ? $received / $calls : null,
        ];
    }

    /** @return array{calls: int, decisions: int, seconds: float, processor: float, times: array<int, int>} empty when it has connected */
    private static function read(Channel $worker): array
    {
        $message = json_decode((string) $worker->receive(), true) ?? ['error' => 'a process of the measurement has ended early'];
        return isset($message['error']) ? throw new CommandError($message['error']) : $message;
    }

    /**
     * The time within which this share of the decisions was made, to 1 %.
     *
     * @param list<array{times: array<int, int>, ...}> $results
     */
    private static function quantile(array $results, float $share): float
    {
        $times = [];
        foreach ($results as $result) {
            foreach ($result['times'] as $class => $count) {
                $times[$class] = ($times[$class] ?? 0) + $count;
            }
        }
        ksort($times);
        $left = $share * array_sum($times);
        foreach ($times as $class => $count) {
            $left -= $count;
            if ($left <= 0) {
                return 1.02 ** ($class + 0.5) / 1e9;
            }
        }
        return 0.0;
    }

    /** @return array{idle: int, all: int} of this host's processors since it booted */
    private static function processorTimes(): array
    {
        // user, nice, system, idle, iowait, irq, softirq, steal
        $times = sscanf((string) @file_get_contents('/proc/stat'), 'cpu %d %d %d %d %d %d %d %d');
        return ['idle' => (int) ($times[3] ?? 0) + (int) ($times[4] ?? 0), 'all' => (int) array_sum((array) $times)];
    }
}
