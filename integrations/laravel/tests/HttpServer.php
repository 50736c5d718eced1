<?php

declare(strict_types=1);

namespace TokenBucket\Laravel\Tests;

use RuntimeException;

/** PHP's own server on a port that it chooses, with the application and several workers. */
final class HttpServer
{
    /** @var resource */
    private $process;

    public readonly int $port;

    /**
     * @param array<string, string> $environment
     * @param array<string, string> $directives of PHP
     */
    public function __construct(int $workers, array $environment = [], array $directives = [])
    {
        $application = (string) getenv('TB_LARAVEL_APP');
        $options = [];
        foreach ($directives as $name => $value) {
            array_push($options, '-d', "$name=$value");
        }
        $log = (string) tempnam($application, 'server');
        // setsid: the server and its workers are a group, which stop() and run-tests.sh end.
        $process = proc_open(
            ['setsid', PHP_BINARY, ...$options, '-S', '127.0.0.1:0', "$application/public/index.php"],
            [['file', '/dev/null', 'r'], ['file', '/dev/null', 'w'], ['file', $log, 'w']],
            $pipes,
            "$application/public",
            $environment + ['PHP_CLI_SERVER_WORKERS' => (string) $workers] + getenv()
        );
        if ($process === false) {
            throw new RuntimeException('PHP could not be started');
        }
        $this->process = $process;
        file_put_contents((string) getenv('TB_LARAVEL_PIDS'), $this->pid() . "\n", FILE_APPEND);
        // It names its port once it listens.
        for ($tries = 0; preg_match('~\(http://127\.0\.0\.1:(\d+)\) started~', (string) file_get_contents($log), $found) !== 1; $tries++) {
            if ($tries > 1_000) {
                throw new RuntimeException('The server did not start: ' . file_get_contents($log));
            }
            usleep(20_000);
        }
        $this->port = (int) $found[1];
    }

    public function stop(): void
    {
        posix_kill(-$this->pid(), SIGKILL);
        proc_close($this->process);
    }

    private function pid(): int
    {
        return proc_get_status($this->process)['pid'];
    }
}
