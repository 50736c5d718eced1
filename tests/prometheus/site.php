<?php
/*
 * The private php-fpm behind nginx that scripts/test/prometheus.sh has started.
 */
declare(strict_types=1);

final class Site
{
    public function __construct(private readonly int $port)
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
        return array_map(function (Answer $answer) use ($page): string {
            $answer->status === 200 || give_up("$page answered: $answer->status\n$answer->body");
            return $answer->body;
        }, Http::send_all($this->port, array_fill(0, $times, ["/$page?" . http_build_query($query)])));
    }

    /** @param list<string> $headers of a request for the metrics by a client */
    public function metrics(string $client, array $headers = []): Answer
    {
        return Http::send($this->port, '/token_bucket.php', headers: $headers, client: $client);
    }
}
