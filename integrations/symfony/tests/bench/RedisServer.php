<?php

declare(strict_types=1);

namespace TokenBucket\Symfony\Tests\bench;

/** A Redis server on a socket of its own. */
final class RedisServer
{
    /** @param resource $process */
    private function __construct(public readonly string $socket, private $process)
    {
    }

    /** Null if Redis or PHP's extension for it is not installed. */
    public static function startIfThereIsOne(string $folder): ?self
    {
        if (!extension_loaded('redis') || !is_executable('/usr/bin/redis-server')) {
            return null;
        }
        $socket = "$folder/redis.sock";
        $command = ['redis-server', '--port', '0', '--unixsocket', $socket, '--save', '', '--dir', $folder];
        $process = proc_open($command, [['file', '/dev/null', 'r'], ['file', "$folder/redis.log", 'w'], ['file', "$folder/redis.log", 'a']], $pipes);
        if ($process === false) {
            throw new \RuntimeException('Redis cannot be started.');
        }
        while (@stream_socket_client("unix://$socket") === false) {
            if (!proc_get_status($process)['running']) {
                throw new \RuntimeException('Redis does not start: ' . file_get_contents("$folder/redis.log"));
            }
            usleep(10_000);
        }

        return new self($socket, $process);
    }

    public function stop(): void
    {
        proc_terminate($this->process, SIGKILL);
        proc_close($this->process);
    }
}
