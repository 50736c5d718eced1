<?php

declare(strict_types=1);

namespace TokenBucket\Laravel\Tests;

use RuntimeException;

/** PHP's own server on a free port, with the application and several workers. */
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
        $this->port = self::freePort();
        $application = (string) getenv('TB_LARAVEL_APP');
        $options = [];
        foreach ($directives as $name => $value) {
            array_push($options, '-d', "$name=$value");
        }
        // setsid: the server and its workers are a group, which stop() and run-tests.sh end.
        $process = proc_open(
            ['setsid', PHP_BINARY, ...$options, '-S', "127.0.0.1:{$this->port}", "$application/public/index.php"],
            [['file', '/dev/null', 'r'], ['file', '/dev/null', 'w'], ['file', "$application/server.log", 'a']],
            $pipes,
            "$application/public",
            $environment + ['PHP_CLI_SERVER_WORKERS' => (string) $workers] + getenv()
        );
        if ($process === false) {
            throw new RuntimeException('PHP could not be started');
        }
        $this->process = $process;
        file_put_contents((string) getenv('TB_LARAVEL_PIDS'), $this->pid() . "\n", FILE_APPEND);
        for ($tries = 0; @fsockopen('127.0.0.1', $this->port) === false; $tries++) {
            if ($tries > 200) {
                throw new RuntimeException('The server did not start: ' . file_get_contents("$application/server.log"));
            }
            usleep(20_000);
        }
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

    public static function freePort(): int
    {
        $socket = stream_socket_server('tcp://127.0.0.1:0');
        if ($socket === false) {
            throw new RuntimeException('There is no free port');
        }

        return (int) substr((string) strrchr((string) stream_socket_get_name($socket, false), ':'), 1);
    }
}
