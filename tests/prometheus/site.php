<?php
/*
 * The private php-fpm behind nginx that scripts/test/prometheus.sh has started.
 */
declare(strict_types=1);

final class Site
{
    public function __construct(public readonly string $address)
    {
    }

    /** The body of a page. */
    public function get(string $page, array $query = []): string
    {
        return $this->get_at_once($page, $query, 1)[0];
    }

    /**
     * The bodies of a page that is requested several times at once.
     *
     * @return list<string>
     */
    public function get_at_once(string $page, array $query, int $times): array
    {
        $connections = [];
        for ($n = 0; $n < $times; $n++) {
            $connections[] = $this->send($page, $query);
        }
        return array_map(function ($connection) use ($page): string {
            [$head, $body] = explode("\r\n\r\n", stream_get_contents($connection), 2) + [1 => ''];
            str_contains(strtok($head, "\r\n"), ' 200 ') || give_up("$page answered: $head\n$body");
            return $body;
        }, $connections);
    }

    /**
     * The status line and the headers of a page for a client.
     *
     * @param list<string> $headers
     */
    public function head(string $page, string $client, array $headers = []): string
    {
        return strstr(stream_get_contents($this->send($page, [], $client, $headers)), "\r\n\r\n", true);
    }

    /** @return resource */
    private function send(string $page, array $query, string $client = '127.0.0.1', array $headers = [])
    {
        $context = stream_context_create(['socket' => ['bindto' => "$client:0"]]);
        $connection = stream_socket_client("tcp://$this->address", $code, $error, 10, STREAM_CLIENT_CONNECT, $context)
            ?: give_up("Cannot connect to $this->address: $error");
        stream_set_timeout($connection, 30);
        // HTTP/1.0: the answer ends with the connection.
        fwrite($connection, implode("\r\n", ["GET /$page?" . http_build_query($query) . ' HTTP/1.0', ...$headers, "\r\n"]));
        return $connection;
    }
}
