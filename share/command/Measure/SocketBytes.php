<?php
declare(strict_types=1);

namespace TokenBucket\Command\Measure;

use TokenBucket\Command\Channel;
use TokenBucket\Command\CommandError;

/**
 * Counts the bytes on the connections of other processes, with the program ss. A process of its own runs ss: it is forked before the
 * command becomes the pool's user, and stays root's, so that nothing is executed as that user.
 */
final class SocketBytes
{
    /** What has no such program, or a unix socket. */
    private const NOTHING = [0, 0];

    private function __construct(private Channel $channel)
    {
    }

    /** @throws CommandError if the system gives no process */
    public static function start(): self
    {
        [$ours, $theirs] = Channel::pair();
        $process = pcntl_fork();
        if ($process === 0) {
            $ours->close();
            // Until the command has ended.
            while (($processes = $theirs->receive()) !== null && $theirs->send(json_encode(self::count($processes), JSON_THROW_ON_ERROR))) {
            }
            exit(0);
        }
        $theirs->close();
        return $process === -1 ? throw new CommandError('cannot start another process') : new self($ours);
    }

    /**
     * @param list<int> $processes
     *
     * @return array{int, int} sent and received by the open connections of these processes; 0 without the program ss, and at a unix socket
     */
    public function of(array $processes): array
    {
        $this->channel->send(implode('|', $processes));
        $bytes = json_decode((string) $this->channel->receive(), true);
        return is_array($bytes) ? [(int) $bytes[0], (int) $bytes[1]] : self::NOTHING;
    }

    /** For a process that was forked later: this one counts until all have closed their ends. */
    public function close(): void
    {
        $this->channel->close();
    }

    /**
     * @param string $processes their numbers, as alternatives of a regular expression
     *
     * @return array{int, int}
     */
    private static function count(string $processes): array
    {
        $connections = function_exists('shell_exec') ? (string) shell_exec('ss -tinpHO state established 2>/dev/null') : '';
        preg_match_all("~pid=(?:$processes),.* bytes_sent:(\d+).* bytes_received:(\d+)~", $connections, $found);
        return [(int) array_sum(array_map('intval', $found[1])), (int) array_sum(array_map('intval', $found[2]))];
    }
}
