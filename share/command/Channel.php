<?php
declare(strict_types=1);

namespace TokenBucket\Command;

/** Messages between two processes, over a socket. */
final class Channel
{
    private const CHUNK = 262_144;
    /** Longer than any task takes. PHP's own bound for sockets is a minute. */
    private const SECONDS_AT_MOST = 31_536_000;

    /** @param resource $socket */
    private function __construct(public $socket)
    {
        stream_set_chunk_size($socket, self::CHUNK);
        stream_set_timeout($socket, self::SECONDS_AT_MOST);
    }

    /**
     * @return array{Channel, Channel} two ends
     *
     * @throws CommandError if the system gives no sockets
     */
    public static function pair(): array
    {
        $sockets = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0) ?: throw new CommandError('cannot make a pair of sockets');
        return [new self($sockets[0]), new self($sockets[1])];
    }

    /** @return bool false if the other process has ended */
    public function send(string $message): bool
    {
        $bytes = pack('N', strlen($message)) . $message;
        while ($bytes !== '') {
            $written = @fwrite($this->socket, $bytes);
            if ($written === false || $written === 0) {
                return false;
            }
            $bytes = substr($bytes, $written);
        }
        return true;
    }

    /** @return string|null null if the other process has closed its end, or has ended */
    public function receive(): ?string
    {
        $header = (string) @stream_get_contents($this->socket, 4);
        if (strlen($header) < 4) {
            return null;
        }
        $length = unpack('N', $header)[1];
        $message = $length === 0 ? '' : (string) @stream_get_contents($this->socket, $length);
        return strlen($message) === $length ? $message : null;
    }

    /** Tells the other process that nothing more will be sent. */
    public function endSending(): void
    {
        stream_socket_shutdown($this->socket, STREAM_SHUT_WR);
    }

    public function close(): void
    {
        fclose($this->socket);
    }
}
