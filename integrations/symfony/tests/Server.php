<?php

declare(strict_types=1);

namespace TokenBucket\Symfony\Tests;

/** The application of tests/app behind PHP's own web server with eight workers, on a port that it chooses. */
final class Server
{
    private const WORKERS = 8;

    public readonly string $folder;
    private int $port;
    /** @var resource */
    private $process;

    /** @param array<string, string> $ini directives of PHP */
    public function __construct(string $environment, array $ini = [])
    {
        $this->folder = self::newFolder();
        $command = [PHP_BINARY, '-d', "token_bucket.shm_path=$this->folder"];
        foreach ($ini as $name => $value) {
            array_push($command, '-d', "$name=$value");
        }
        array_push($command, '-S', '127.0.0.1:0', __DIR__ . '/app/index.php');
        $log = ['file', "$this->folder/server.log", 'w'];
        $variables = ['APP_ENV' => $environment, 'APP_FOLDER' => $this->folder, 'PHP_CLI_SERVER_WORKERS' => (string) self::WORKERS];
        $this->process = proc_open($command, [['file', '/dev/null', 'r'], $log, $log], $pipes, null, $variables + getenv())
            ?: throw new \RuntimeException('The server cannot be started.');
        $this->awaitStart();
    }

    /** Ends all workers, also of a server that a failed test leaves behind. */
    public function __destruct()
    {
        // PHP's server leaves its workers behind when it is ended.
        foreach ([...$this->workers(), proc_get_status($this->process)['pid']] as $id) {
            posix_kill($id, SIGKILL);
        }
        proc_close($this->process);
        (new \Symfony\Component\Filesystem\Filesystem())->remove($this->folder);
    }

    /**
     * Sends all requests at the same time, each from one of the addresses 127.0.0.N. Kills some workers when all are sent.
     *
     * @param list<array{0: int, 1: string, 2?: array<string, string>, 3?: string}> $requests N, path, form, further header lines
     * @return list<Answer> in the order of the requests
     */
    public function requestAll(array $requests, int $workers_to_kill = 0): array
    {
        $sockets = [];
        foreach ($requests as $request) {
            $sockets[] = $this->send(...$request);
        }
        foreach (array_slice($this->workers(), 0, $workers_to_kill) as $worker) {
            posix_kill($worker, SIGKILL);
        }

        return array_map(self::receive(...), $sockets);
    }

    /** @param array<string, string> $form */
    public function request(int $client, string $path, array $form = [], string $headers = ''): Answer
    {
        return self::receive($this->send($client, $path, $form, $headers));
    }

    /** How many passwords were looked at so far, by all workers. */
    public function lookedAt(): int
    {
        clearstatcache();

        return is_file("$this->folder/looked-at") ? (int) filesize("$this->folder/looked-at") : 0;
    }

    /**
     * @param array<string, string> $form
     * @return resource
     */
    private function send(int $client, string $path, array $form = [], string $headers = '')
    {
        $context = stream_context_create(['socket' => ['bindto' => "127.0.0.$client:0"]]);
        $socket = stream_socket_client("tcp://127.0.0.1:$this->port", $code, $message, 30, STREAM_CLIENT_CONNECT, $context);
        if ($socket === false) {
            throw new \RuntimeException("The server does not answer: $message\n" . $this->log());
        }
        $body = http_build_query($form);
        $method = $form === [] ? 'GET' : 'POST';
        $type = $form === [] ? '' : "Content-Type: application/x-www-form-urlencoded\r\n";
        fwrite($socket, "$method $path HTTP/1.0\r\nHost: localhost\r\n$type" . 'Content-Length: ' . strlen($body) . "\r\n$headers\r\n$body");

        return $socket;
    }

    /** @param resource $socket */
    private static function receive($socket): Answer
    {
        stream_set_timeout($socket, 60);

        return Answer::fromText((string) stream_get_contents($socket));
    }

    private function awaitStart(): void
    {
        $until = hrtime(true) + 20_000_000_000;
        // It names its port once it listens.
        while (preg_match('~\(http://127\.0\.0\.1:(\d+)\) started~', $this->log(), $found) !== 1) {
            if (hrtime(true) > $until || !proc_get_status($this->process)['running']) {
                throw new \RuntimeException("The server does not start:\n" . $this->log());
            }
            usleep(20_000);
        }
        $this->port = (int) $found[1];
        // Compiles the container, so that the workers do not all do it at the first attack.
        $answer = $this->request(1, '/login');
        if ($answer->status !== 200) {
            throw new \RuntimeException("The application answers $answer->status:\n$answer->body\n" . $this->log());
        }
    }

    /** @return list<int> the ids of the processes */
    private function workers(): array
    {
        $master = proc_get_status($this->process)['pid'];
        $children = (string) @file_get_contents("/proc/$master/task/$master/children");

        return array_values(array_filter(array_map('intval', explode(' ', $children))));
    }

    private function log(): string
    {
        return (string) file_get_contents("$this->folder/server.log");
    }

    private static function newFolder(): string
    {
        $folder = getenv('APP_FOLDER') . '/server-' . bin2hex(random_bytes(4));
        mkdir($folder);

        return $folder;
    }
}
