<?php
/*
 * Requests at a fixed rate. wrk and h2load send a request when one before has ended, or many at once.
 */

final class HttpClient
{
    /** @var resource[] connections without a request, which stay open */
    private array $idle = [];

    public function __construct(private WebServer $server)
    {
    }

    /** @return int[] nanoseconds of each request of a page, from when it should have begun to the end of its answer */
    public function measure(string $page, int $rate, int $requests): array
    {
        $request = "GET /index.php?limiter=$page HTTP/1.1\r\nHost: localhost\r\n\r\n";
        $begin = hrtime(true) + 1_000_000;
        $due = fn (int $i) => $begin + intdiv($i * 1_000_000_000, $rate);
        $waiting = $started = $answers = $times = [];
        for ($sent = 0; count($times) < $requests;) {
            while ($sent < $requests && hrtime(true) >= $due($sent)) {
                $connection = array_pop($this->idle) ?? $this->connect();
                fwrite($connection, $request);
                [$waiting[(int) $connection], $started[(int) $connection], $answers[(int) $connection]] = [$connection, $due($sent++), ''];
            }
            $ready = $waiting;
            $wait = $sent < $requests ? max(0, intdiv($due($sent) - hrtime(true), 1_000)) : 1_000_000;
            [$write, $except] = [null, null];
            $ready ? stream_select($ready, $write, $except, 0, $wait) : usleep($wait);
            foreach ($ready as $id => $connection) {
                $part = fread($connection, 65_536);
                $answers[$id] .= $part;
                $part !== '' || throw new RuntimeException("The page with $page: {$this->server->logs()}");
                // nginx sends what PHP writes in chunks; the last one is empty.
                if (str_ends_with($answers[$id], "0\r\n\r\n")) {
                    $times[] = hrtime(true) - $started[$id];
                    str_starts_with($answers[$id], 'HTTP/1.1 200 ') || throw new RuntimeException("The page with $page: $answers[$id]");
                    $this->idle[] = $connection;
                    unset($waiting[$id]);
                }
            }
        }
        return $times;
    }

    /** @return resource */
    private function connect()
    {
        $connection = stream_socket_client("tcp://127.0.0.1:{$this->server->port}", $code, $message, 5, STREAM_CLIENT_CONNECT, stream_context_create(['socket' => ['tcp_nodelay' => true]]));
        stream_set_blocking($connection, false);
        return $connection;
    }
}
