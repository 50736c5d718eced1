<?php

declare(strict_types=1);

namespace TokenBucket\Laravel\Tests;

use RuntimeException;

/** A Redis of a test's own on a free port, which the test may kill. */
final class RedisServer
{
    /** @var resource */
    private $process;

    public readonly int $port;

    public function __construct()
    {
        $this->port = HttpServer::freePort();
        $command = ['setsid', 'redis-server', '--port', (string) $this->port, '--save', '', '--dir', (string) getenv('TB_LARAVEL_APP')];
        $this->process = proc_open($command, [['file', '/dev/null', 'r'], ['file', '/dev/null', 'w'], ['file', '/dev/null', 'w']], $pipes)
            ?: throw new RuntimeException('Redis could not be started');
        file_put_contents((string) getenv('TB_LARAVEL_PIDS'), proc_get_status($this->process)['pid'] . "\n", FILE_APPEND);
        for ($tries = 0; @fsockopen('127.0.0.1', $this->port) === false; $tries++) {
            if ($tries > 200) {
                throw new RuntimeException('Redis did not start');
            }
            usleep(20_000);
        }
    }

    public function kill(): void
    {
        if (is_resource($this->process)) {
            proc_terminate($this->process, SIGKILL);
            proc_close($this->process);
        }
    }
}
