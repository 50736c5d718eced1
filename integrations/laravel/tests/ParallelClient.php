<?php

declare(strict_types=1);

namespace TokenBucket\Laravel\Tests;

use RuntimeException;

/** Sends requests over HTTP at the same time. */
final class ParallelClient
{
    private const TIMEOUT = 30.0;

    public function __construct(private int $port)
    {
    }

    /**
     * @param list<array{0: string, 1?: array<string, string>}> $requests path and headers
     * @return list<array{status: int, headers: array<string, string>, body: string}> in the same order
     */
    public function get(array $requests): array
    {
        $sockets = [];
        foreach ($requests as $i => $request) {
            $socket = stream_socket_client("tcp://127.0.0.1:{$this->port}", $errno, $error, self::TIMEOUT);
            if ($socket === false) {
                throw new RuntimeException("no connection: $error");
            }
            stream_set_blocking($socket, false);
            $sockets[$i] = $socket;
        }
        // All connections are open before the first request is sent, so that the requests meet.
        foreach ($requests as $i => $request) {
            $headers = ['Host' => 'localhost', 'Connection' => 'close', 'Accept' => 'application/json'] + ($request[1] ?? []);
            $lines = array_map(static fn (string $name, string $value) => "$name: $value\r\n", array_keys($headers), $headers);
            fwrite($sockets[$i], "GET {$request[0]} HTTP/1.1\r\n" . implode('', $lines) . "\r\n");
        }

        return array_map([self::class, 'parse'], $this->readAll($sockets));
    }

    /** How many of so many requests at the same time were answered with a status. */
    public function count(int $status, string $path, int $requests, array $headers = []): int
    {
        $answers = $this->get(array_fill(0, $requests, [$path, $headers]));

        return count(array_filter($answers, static fn (array $answer) => $answer['status'] === $status));
    }

    /**
     * @param array<int, resource> $sockets
     * @return list<string>
     */
    private function readAll(array $sockets): array
    {
        $answers = array_fill_keys(array_keys($sockets), '');
        $deadline = microtime(true) + self::TIMEOUT;
        while ($sockets !== []) {
            $ready = $sockets;
            $none = null;
            if (microtime(true) > $deadline) {
                throw new RuntimeException(count($sockets) . ' requests were not answered');
            }
            stream_select($ready, $none, $none, 1, 0);
            foreach ($ready as $i => $socket) {
                $answers[$i] .= (string) fread($socket, 65_536);
                if (feof($socket)) {
                    fclose($socket);
                    unset($sockets[$i]);
                }
            }
        }

        return array_values($answers);
    }

    /** @return array{status: int, headers: array<string, string>, body: string} */
    private static function parse(string $answer): array
    {
        [$head, $body] = explode("\r\n\r\n", $answer, 2) + ['', ''];
        $lines = explode("\r\n", $head);
        $headers = [];
        foreach (array_slice($lines, 1) as $line) {
            [$name, $value] = explode(':', $line, 2) + ['', ''];
            $headers[strtolower($name)] = trim($value);
        }

        return ['status' => (int) (explode(' ', $lines[0])[1] ?? 0), 'headers' => $headers, 'body' => $body];
    }
}
