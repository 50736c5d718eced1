<?php
/*
 * A private Prometheus, which ends with the test, however that ends, and promtool.
 */
declare(strict_types=1);

final class Prometheus
{
    /** Seconds to wait for a value, which a scrape brings each second. */
    private const TIMEOUT = 20.0;

    private readonly string $address;

    /** Starts Prometheus and waits until it answers. */
    public function __construct(string $folder, string $configuration)
    {
        file_put_contents("$folder/prometheus.yml", $configuration);
        $this->address = '127.0.0.1:' . free_port();
        $output = ['file', "$folder/prometheus.log", 'a'];
        $process = proc_open([
            // If this test is killed, the kernel ends Prometheus.
            'setpriv', '--pdeathsig', 'KILL', 'prometheus', "--config.file=$folder/prometheus.yml",
            "--storage.tsdb.path=$folder/tsdb", "--web.listen-address=$this->address", '--log.level=warn',
        ], [['file', '/dev/null', 'r'], $output, $output], $pipes);
        $process || give_up('Prometheus cannot be started');
        register_shutdown_function(function () use ($process): void {
            proc_terminate($process, SIGKILL);
            proc_close($process);
        });
        comes_true(fn (): bool => @file_get_contents("http://$this->address/-/ready") !== false || !proc_get_status($process)['running'], self::TIMEOUT)
            && proc_get_status($process)['running']
            || give_up("Prometheus did not start\n" . file_get_contents("$folder/prometheus.log"));
    }

    /** The answer of a page of its HTTP API. */
    public function ask(string $page, array $parameters = []): array
    {
        $context = stream_context_create(['http' => ['ignore_errors' => true, 'timeout' => 10]]);
        $answer = file_get_contents("http://$this->address/api/v1/$page?" . http_build_query($parameters), false, $context);
        return json_decode($answer, true, flags: JSON_THROW_ON_ERROR);
    }

    /**
     * The samples of an expression now, or the error.
     *
     * @return list<array{metric: array<string, string>, value: array{float, string}}>|string
     */
    public function query(string $expression): array|string
    {
        $answer = $this->ask('query', ['query' => $expression]);
        return $answer['status'] === 'success' ? $answer['data']['result'] : $answer['error'];
    }

    /** The value of an expression with one sample; null without a sample. */
    public function value(string $expression): float|string|null
    {
        $samples = $this->query($expression);
        return match (true) {
            is_string($samples) => $samples,
            count($samples) > 1 => count($samples) . ' samples',
            default => isset($samples[0]) ? (float) $samples[0]['value'][1] : null,
        };
    }

    /** The value of an expression, once it is the expected one; else its last value. */
    public function await(string $expression, ?float $expected): float|string|null
    {
        comes_true(fn (): bool => $this->value($expression) === $expected, self::TIMEOUT);
        return $this->value($expression);
    }

    /** The samples of an expression, once it has some; an empty list if it has none in time. */
    public function await_samples(string $expression): array|string
    {
        comes_true(fn (): bool => $this->query($expression) !== [], self::TIMEOUT);
        return $this->query($expression);
    }
}

/**
 * Runs promtool; returns `passes`, or its status and what it printed.
 *
 * @param list<string> $arguments
 */
function promtool(array $arguments, string $input = ''): string
{
    $process = proc_open(['promtool', ...$arguments], [['pipe', 'r'], ['pipe', 'w'], ['redirect', 1]], $pipes);
    // promtool reads all of its input before it prints.
    fwrite($pipes[0], $input);
    fclose($pipes[0]);
    $output = stream_get_contents($pipes[1]);
    $status = proc_close($process);
    return $status === 0 ? "passes" : "status $status\n$output";
}
