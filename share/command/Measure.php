<?php
declare(strict_types=1);

namespace TokenBucket\Command;

use TokenBucket;
use TokenBucket\Command\Measure\Run;
use TokenBucket\Command\Measure\SocketBytes;
use TokenBucket\ConfigurationException;

/** Measures how many decisions a server makes for this host, asked by one process and by several. */
final class Measure implements Command
{
    /** These replace the DSN's own, so that a slow answer is measured, and neither a lease nor on_error answers instead. */
    private const REPLACED = 'on_error|lease|enforce|timeout_ms|connect_timeout_ms';
    private const PARAMETERS = 'on_error=throw&lease=0&enforce=1&timeout_ms=2000&connect_timeout_ms=2000';
    private const MOST_PROCESSES = 64;
    /** Below a folder that cannot exist no statistics are kept, and other processes of this host see no outage. */
    private const DIRECTIVES = ['token_bucket.shm_path' => '/proc/token-bucket-measure', 'token_bucket.deny_cache' => '0', 'token_bucket.limits' => ''];

    public static function options(): array
    {
        return [
            new Option('seconds', 'N', 'How long each of the two runs lasts (3; at most 60)'),
            new Option('processes', 'N', 'How many ask in the second run (8; at most ' . self::MOST_PROCESSES . ')'),
            ...Pool::options(),
        ];
    }

    public static function notes(): string
    {
        return "It loads the server. DSN is such as redis://10.0.0.5; without one the command\nmeasures token_bucket.storage. If the DSN has a password, write - and give it on\n"
            . "standard input: others see the words of a command. Each process takes tokens of\n100 buckets of its own, which are reset at the end.";
    }

    public function run(Arguments $arguments): int
    {
        $seconds = $arguments->integer('seconds', 3, 1, 60);
        $processes = $arguments->integer('processes', 8, 1, self::MOST_PROCESSES);
        if (isset($arguments->operands[1])) {
            throw new UsageError('measure takes one DSN');
        }
        // pcntl may be loaded and its functions disabled.
        foreach (['pcntl_fork', 'pcntl_exec'] as $function) {
            if (!function_exists($function)) {
                throw new CommandError("measure needs PHP's extension pcntl, and its function $function()");
            }
        }
        $pool = Pool::withDirectives($arguments, self::DIRECTIVES);
        $bytes = SocketBytes::start();
        // Nothing is shared with a pool's workers, so root may also measure without one.
        if ($arguments->has('pool') || $arguments->has('user')) {
            $pool->become();
        }
        $dsn = self::dsn($arguments->operands[0] ?? null);
        // Without a user, a password and parameters.
        $server = Text::printable((string) preg_replace(['~\?.*~s', '~//.*@~s'], ['', '//'], $dsn));
        $prefix = 'token-bucket-measure:' . php_uname('n') . ':';
        fwrite(STDERR, "token-bucket: loads $server for $seconds s with one process" . ($processes === 1 ? '' : " and for $seconds s with $processes") . "; its own keys, {$prefix}*, are reset at the end\n");
        $runs = array_map(static fn (int $count): array => Run::of($dsn, $prefix, $count, $seconds, $bytes), array_values(array_unique([1, $processes])));
        echo $arguments->has('json') ? Text::json(['server' => $server, 'seconds' => $seconds, 'runs' => $runs]) : self::text($server, $runs);
        return Application::SUCCESS;
    }

    /** The DSN of a server, with the parameters of a measurement. */
    private static function dsn(?string $word): string
    {
        $dsn = $word === '-' ? rtrim((string) fgets(STDIN), "\r\n") : $word ?? (string) ini_get('token_bucket.storage');
        if (preg_match('~^(shm|array):|^$~', $dsn) === 1) {
            throw new UsageError(($word === null ? 'token_bucket.storage' : 'DSN') . " must be that of a server, such as redis://10.0.0.5: shm: and array: are this host's own memory");
        }
        $dsn = rtrim((string) preg_replace('~(?<=[?&])(?:' . self::REPLACED . ')=[^&]*&?~', '', $dsn), '?&');
        $dsn .= (str_contains($dsn, '?') ? '&' : '?') . self::PARAMETERS;
        try {
            TokenBucket::per($dsn, 'token-bucket-measure', 1, 1);
        } catch (ConfigurationException $error) {
            throw new UsageError($error->getMessage());
        }
        return $dsn;
    }

    /** @param non-empty-list<array{processes: int, decisions: int, per_second: float, median_seconds: float, percentile_99_seconds: float, cores: float, host_busy: float, bytes_sent: float|null, bytes_received: float|null}> $runs */
    private static function text(string $server, array $runs): string
    {
        $text = sprintf("%s\n%-12s %12s %12s %12s %20s\n", $server, 'processes', 'a second', 'median', '99 %', 'cores of this host');
        foreach ($runs as $run) {
            $text .= sprintf("%-12d %12s %9.3f ms %9.3f ms %20.2f\n", $run['processes'], number_format($run['per_second']), 1_000 * $run['median_seconds'], 1_000 * $run['percentile_99_seconds'], $run['cores']);
        }
        [$one, $all] = [$runs[0], $runs[count($runs) - 1]];
        [$rate, $busy] = [number_format($all['per_second']), sprintf('This host was busy for %.0f %% of the time', 100 * $all['host_busy'])];
        $lines = [
            sprintf('A decision adds %.3f ms to a page, and to one page in a hundred %.3f ms or more.', 1_000 * $one['median_seconds'], 1_000 * $one['percentile_99_seconds']),
            sprintf('This server decided %s a second for %s; they used %.0f %% of one core of this host.', $rate, $all['processes'] === 1 ? 'one process' : "$all[processes] processes", 100 * $all['cores']),
        ];
        if ($all['bytes_sent'] !== null) {
            $megabits = static fn (?float $bytes): float => (float) $bytes * $all['per_second'] * 8 / 1e6;
            $lines[] = sprintf('A decision sends %.0f bytes and receives %.0f: %.1f and %.1f Mbit/s at %s a second, without the headers of TCP.', $all['bytes_sent'], $all['bytes_received'], $megabits($all['bytes_sent']), $megabits($all['bytes_received']), $rate);
        }
        $lines[] = match (true) {
            $all['host_busy'] >= 0.9 => "$busy, so it may be the bound. Measure from several hosts at once, and add up.",
            $all['per_second'] >= 0.8 * $all['processes'] * $one['per_second'] => "$busy. More processes would get more: try --processes " . min(2 * $all['processes'], self::MOST_PROCESSES) . '.',
            default => "$busy, so the server or the network is the bound.",
        };
        return "$text\n" . implode("\n", $lines) . "\n";
    }
}
