<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

use TokenBucket\Command\CommandError;

/**
 * Processes that share the work. They have what this process had when they were forked.
 *
 * @template T the result of a process: arrays and plain values
 */
final class Workers
{
    private const RESULT = 'r';
    private const ERROR = 'e';
    private const PROGRESS = 'p';

    /** @var list<Channel> */
    private array $channels = [];
    /** @var list<int> */
    private array $processes = [];
    private int $next = 0;

    /**
     * @param callable(int, Channel): T $task what each process does, given its number; its result is sent to this process
     */
    public function __construct(int $count, callable $task)
    {
        for ($number = 0; $number < $count; $number++) {
            [$ours, $theirs] = Channel::pair();
            $process = pcntl_fork();
            if ($process === -1) {
                throw new CommandError('cannot start another process: ' . pcntl_strerror(pcntl_get_last_error()));
            }
            if ($process === 0) {
                // Or this process would keep the other ones' channels open after the first process has ended.
                foreach ([...$this->channels, $ours] as $channel) {
                    $channel->close();
                }
                self::work($task, $number, $theirs);
            }
            $theirs->close();
            $this->channels[] = $ours;
            $this->processes[] = $process;
        }
    }

    /** Called in a task: tells the first process that a part is done. */
    public static function reportProgress(Channel $channel): void
    {
        if (!$channel->send(self::PROGRESS)) {
            exit(1);
        }
    }

    /** Hands a message to a process that has room for it. */
    public function send(string $message): void
    {
        $read = $except = null;
        $write = array_map(static fn (Channel $channel): mixed => $channel->socket, $this->channels);
        stream_select($read, $write, $except, null, null);
        $ready = array_keys($write);
        $chosen = in_array($this->next, $ready, true) ? $this->next : (int) $ready[0];
        $this->next = ($chosen + 1) % count($this->channels);
        if (!$this->channels[$chosen]->send($message)) {
            $this->finish(static fn (): bool => true);
            throw new CommandError('a process that reads the log has ended');
        }
    }

    /**
     * Waits for all of them.
     *
     * @param callable(): mixed $on_progress called for each part that is done
     *
     * @return list<T> their results
     */
    public function finish(callable $on_progress): array
    {
        $results = [];
        $open = $this->channels;
        foreach ($open as $channel) {
            $channel->endSending();
        }
        while ($open !== []) {
            $read = array_map(static fn (Channel $channel): mixed => $channel->socket, $open);
            $write = $except = null;
            stream_select($read, $write, $except, null, null);
            foreach (array_keys($read) as $number) {
                $message = $open[$number]->receive();
                if ($message === self::PROGRESS) {
                    $on_progress();
                    continue;
                }
                $open[$number]->close();
                unset($open[$number]);
                pcntl_waitpid($this->processes[$number], $status);
                $results[$number] = self::result($message, $status);
            }
        }
        ksort($results);
        return array_values($results);
    }

    private static function result(?string $message, int $status): mixed
    {
        if ($message === null) {
            throw new CommandError(pcntl_wifsignaled($status)
                ? 'a process was ended by signal ' . (int) pcntl_wtermsig($status) . (pcntl_wtermsig($status) === SIGKILL ? '; is there enough memory?' : '')
                : 'a process ended without a result; its message is above');
        }
        if ($message[0] === self::ERROR) {
            throw new CommandError(substr($message, 1));
        }
        return unserialize(substr($message, 1), ['allowed_classes' => false]);
    }

    private static function work(callable $task, int $number, Channel $channel): never
    {
        try {
            $message = self::RESULT . serialize($task($number, $channel));
        } catch (CommandError $error) {
            $message = self::ERROR . $error->getMessage();
        }
        exit($channel->send($message) ? 0 : 1);
    }
}
