<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

use TokenBucket\Command\{Channel, CommandError};

/**
 * Writes the report. Where root gives up its rights, a second process keeps them: it is forked before a line is read, and takes nothing but
 * the report.
 */
final class ReportWriter
{
    private ?Channel $channel = null;

    public function __construct(private string $path)
    {
        if (!Rights::areRoots()) {
            return;
        }
        [$this->channel, $writers] = Channel::pair();
        $process = pcntl_fork();
        if ($process === -1) {
            throw new CommandError('cannot start a second process');
        }
        if ($process === 0) {
            // If this process is the last with that end, it never learns that the other one has ended.
            $this->channel->close();
            $content = $writers->receive();
            if ($content !== null) {
                $writers->send((string) NewFile::write($path, $content));
            }
            exit(0);
        }
        $writers->close();
    }

    /** @return string|null what has failed, in the system's words */
    public function write(string $content): ?string
    {
        if ($this->channel === null) {
            return NewFile::write($this->path, $content);
        }
        $answer = $this->channel->send($content) ? $this->channel->receive() : null;
        return $answer === '' ? null : $answer ?? 'the process that writes it has ended';
    }
}
