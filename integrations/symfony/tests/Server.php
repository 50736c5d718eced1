<?php

declare(strict_types=1);

namespace TokenBucket\Symfony\Tests;

use Answer;
use Http;
use PhpServer;

/** The application of tests/app behind PHP's own web server with eight workers. */
final class Server
{
    public readonly string $folder;
    private readonly PhpServer $server;

    /** @param array<string, string> $ini directives of PHP */
    public function __construct(string $environment, array $ini = [])
    {
        $this->folder = getenv('APP_FOLDER') . '/server-' . bin2hex(random_bytes(4));
        mkdir($this->folder);
        $variables = ['APP_ENV' => $environment, 'APP_FOLDER' => $this->folder];
        $this->server = new PhpServer(__DIR__ . '/app/index.php', 8, $ini + ['token_bucket.shm_path' => $this->folder], $variables);
        // Compiles the container, so that the workers do not all do it at the first attack.
        $answer = $this->request(1, '/login');
        if ($answer->status !== 200) {
            throw new \RuntimeException("The application answers $answer->status:\n$answer->body\n" . $this->server->log());
        }
    }

    public function __destruct()
    {
        $this->server->stop();
        remove($this->folder);
    }

    /**
     * Sends all requests at the same time, each from one of the addresses 127.0.0.N. Kills some workers when all are sent.
     *
     * @param list<array{0: int, 1: string, 2?: array<string, string>, 3?: list<string>}> $requests N, path, form, further header lines
     * @return list<Answer> in the order of the requests
     */
    public function requestAll(array $requests, int $workers_to_kill = 0): array
    {
        $kill = function () use ($workers_to_kill): void {
            foreach (array_slice($this->server->workers(), 0, $workers_to_kill) as $worker) {
                posix_kill($worker, SIGKILL);
            }
        };
        $requests = array_map(static fn (array $request): array => [$request[1], $request[3] ?? [], ($request[2] ?? []) ?: '', 'client' => "127.0.0.$request[0]"], $requests);

        return Http::send_all($this->server->port, $requests, $kill);
    }

    /**
     * @param array<string, string> $form
     * @param list<string> $headers
     */
    public function request(int $client, string $path, array $form = [], array $headers = []): Answer
    {
        return $this->requestAll([[$client, $path, $form, $headers]])[0];
    }

    /** How many passwords were looked at so far, by all workers. */
    public function lookedAt(): int
    {
        clearstatcache();

        return is_file("$this->folder/looked-at") ? (int) filesize("$this->folder/looked-at") : 0;
    }

    /** The path that an answer leads to. */
    public static function target(Answer $answer): string
    {
        return (string) parse_url($answer->header('location'), PHP_URL_PATH);
    }
}
