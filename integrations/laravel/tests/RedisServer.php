<?php

declare(strict_types=1);

namespace TokenBucket\Laravel\Tests;

use RuntimeException;

/** A Redis of a test's own on a socket of its own, which the test may kill. */
final class RedisServer
{
    /** @var resource */
    private $process;

    public readonly string $socket;

    public function __construct()
    {
        $folder = (string) getenv('TB_LARAVEL_APP');
        $this->socket = "$folder/redis." . bin2hex(random_bytes(4));
        $command = ['setsid', 'redis-server', '--port', '0', '--unixsocket', $this->socket, '--unixsocketperm', '777', '--save', '', '--dir', $folder];
        $this->process = proc_open($command, [['file', '/dev/null', 'r'], ['file', '/dev/null', 'w'], ['file', '/dev/null', 'w']], $pipes)
            ?: throw new RuntimeException('Redis could not be started');
        file_put_contents((string) getenv('TB_LARAVEL_PIDS'), proc_get_status($this->process)['pid'] . "\n", FILE_APPEND);
        for ($tries = 0; @stream_socket_client("unix://$this->socket") === false; $tries++) {
            if ($tries > 1_000) {
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
