<?php

declare(strict_types=1);

namespace TokenBucket\Psr15\Tests;

/** PHP's own web server with eight processes, on a port that it chooses, which serves app.php. */
final class Server
{
    private const PROCESSES = 8;

    /** Seconds to wait for the server, which answers at once unless it is broken. */
    private const TIMEOUT = 30;

    private readonly string $address;
    private readonly string $log;

    /** @var resource */
    private $process;

    /** @param array<string, string> $directives of PHP */
    public function __construct(array $directives = [])
    {
        $this->log = (string) tempnam(sys_get_temp_dir(), 'token_bucket-psr15');
        $output = ['file', $this->log, 'a'];
        $command = [PHP_BINARY, '-d', 'token_bucket.limits=' . __DIR__ . '/limits.ini'];
        foreach ($directives as $name => $value) {
            array_push($command, '-d', "$name=$value");
        }
        array_push($command, '-S', '127.0.0.1:0', __DIR__ . '/app.php');
        $environment = ['PHP_CLI_SERVER_WORKERS' => (string) self::PROCESSES] + getenv();
        $this->process = proc_open($command, [['file', '/dev/null', 'r'], $output, $output], $pipes, null, $environment)
            ?: throw new \RuntimeException('The server cannot be started');
        // It names its port once it listens.
        for ($end = time() + self::TIMEOUT; !preg_match('~\(http://(127\.0\.0\.1:\d+)\) started~', (string) file_get_contents($this->log), $found); usleep(10_000)) {
            time() < $end ?: throw new \RuntimeException('The server does not start: ' . $this->log());
        }
        $this->address = $found[1];
    }

    public function stop(): void
    {
        $master = proc_get_status($this->process)['pid'];
        // PHP's server leaves its other processes behind when it is ended.
        $workers = array_map('intval', explode(' ', trim((string) file_get_contents("/proc/$master/task/$master/children"))));
        foreach ([$master, ...array_filter($workers)] as $id) {
            posix_kill($id, SIGKILL);
        }
        proc_close($this->process);
        unlink($this->log);
    }

    /** What the application has logged: the last lines, without those of the server itself. */
    public function log(): string
    {
        $lines = preg_grep('/ (Accepted|Closing)$|\[\d{3}\]: /', (array) file($this->log, FILE_IGNORE_NEW_LINES), PREG_GREP_INVERT);
        return implode("\n", array_slice((array) $lines, -20));
    }

    /**
     * Sends requests, all at once, and returns the answers in their order.
     *
     * @param list<array{string, string, 2?: string}> $requests method, target, body
     * @param string $client the address that the requests are forwarded for
     *
     * @return list<array{status: int, fields: array<string, string>, body: string}>
     */
    public function send(array $requests, string $client): array
    {
        $open = $read = [];
        foreach ($requests as $number => $request) {
            [$method, $target, $body] = $request + [2 => ''];
            $connection = stream_socket_client("tcp://$this->address", $_, $_, self::TIMEOUT)
                ?: throw new \RuntimeException('The server does not answer: ' . $this->log());
            stream_set_blocking($connection, false);
            fwrite($connection, "$method $target HTTP/1.1\r\nHost: $this->address\r\nConnection: close\r\nX-Forwarded-For: $client\r\n"
                . 'Content-Type: text/plain' . "\r\nContent-Length: " . strlen($body) . "\r\n\r\n$body");
            $open[$number] = $connection;
            $read[$number] = '';
        }
        while ($open !== []) {
            $ready = $open;
            $write = $except = null;
            stream_select($ready, $write, $except, self::TIMEOUT, 0) ?: throw new \RuntimeException('Requests have no answer: ' . $this->log());
            foreach ($ready as $number => $connection) {
                $read[$number] .= (string) fread($connection, 65536);
                if (feof($connection)) {
                    unset($open[$number]);
                }
            }
        }
        return array_values(array_map($this->parse(...), $read));
    }

    /** @return array{status: int, fields: array<string, string>, body: string} */
    private function parse(string $answer): array
    {
        [$head, $body] = explode("\r\n\r\n", $answer, 2) + [1 => ''];
        $lines = explode("\r\n", $head);
        $fields = [];
        foreach (array_slice($lines, 1) as $line) {
            [$name, $value] = explode(': ', $line, 2);
            $fields[strtolower($name)] = $value;
        }
        return ['status' => (int) explode(' ', $lines[0] . ' 0')[1], 'fields' => $fields, 'body' => $body];
    }
}
