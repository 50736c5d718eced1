<?php
declare(strict_types=1);

namespace TokenBucket\Command\Measure;

use TokenBucket\Command\CommandError;
use TokenBucket\Command\Restart;

/** One measurement: several processes that ask a server at the same time. */
final class Run
{
    /** Below this folder, which cannot exist, no statistics are kept, and other processes of this host see no outage. */
    private const NO_FOLDER = '/proc/token-bucket-measure';

    /**
     * @return array{processes: int, decisions: int, per_second: float, median_seconds: float, percentile_99_seconds: float, cores: float, host_busy: float, bytes_sent: float|null, bytes_received: float|null}
     *
     * @throws CommandError if a process cannot be started, or the server does not answer
     */
    public static function of(string $dsn, string $prefix, int $count, int $seconds): array
    {
        $workers = array_map(static fn (int $number): array => self::start(json_encode(['dsn' => $dsn, 'prefix' => "$prefix$count.$number:", 'seconds' => $seconds], JSON_THROW_ON_ERROR)), range(1, $count));
        // All have connected before the first one begins.
        array_map(self::read(...), $workers);
        $before = self::processorTimes();
        array_map(static fn (array $worker): int|false => fwrite($worker['in'], "go\n"), $workers);
        $results = array_map(self::read(...), $workers);
        $after = self::processorTimes();
        [$sent, $received] = self::bytes(implode('|', array_map(static fn (array $worker): int => proc_get_status($worker['process'])['pid'], $workers)));
        array_map(static fn (array $worker): int|false => fwrite($worker['in'], "end\n"), $workers);
        array_map('proc_close', array_column($workers, 'process'));
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

    /** @return array{process: resource, in: resource, out: resource} */
    private static function start(string $task): array
    {
        $pipes = [];
        // A process whose command was killed still resets its buckets.
        $directives = ['display_errors' => 'stderr', 'ignore_user_abort' => '1', 'token_bucket.shm_path' => self::NO_FOLDER, 'token_bucket.prefix' => (string) ini_get('token_bucket.prefix'), 'token_bucket.deny_cache' => '0', 'token_bucket.limits' => ''];
        $process = proc_open([PHP_BINARY, ...Restart::phpWords(), ...Restart::options($directives), __DIR__ . '/worker.php'], [['pipe', 'r'], ['pipe', 'w'], STDERR], $pipes);
        if ($process === false || !isset($pipes[0], $pipes[1])) {
            throw new CommandError('cannot start another process');
        }
        // Not as an argument: others would see a password.
        fwrite($pipes[0], "$task\n");
        return ['process' => $process, 'in' => $pipes[0], 'out' => $pipes[1]];
    }

    /**
     * @param array{process: resource, in: resource, out: resource} $worker
     *
     * @return array{calls: int, decisions: int, seconds: float, processor: float, times: array<int, int>} empty when it has connected
     */
    private static function read(array $worker): array
    {
        $message = json_decode((string) fgets($worker['out']), true) ?? ['error' => 'a process of the measurement has ended early'];
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

    /** @return array{int, int} sent and received by the open connections of these processes; 0 without the program ss, and at a unix socket */
    private static function bytes(string $pids): array
    {
        $connections = function_exists('shell_exec') ? (string) shell_exec('ss -tinpHO state established 2>/dev/null') : '';
        preg_match_all("~pid=(?:$pids),.* bytes_sent:(\d+).* bytes_received:(\d+)~", $connections, $found);
        return [(int) array_sum(array_map('intval', $found[1])), (int) array_sum(array_map('intval', $found[2]))];
    }
}
