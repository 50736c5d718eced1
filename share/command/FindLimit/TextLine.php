<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

/**
 * Reads lines of the common and the combined format, as nginx and Apache write them; further fields may follow. Apache's vhost_combined
 * has a host and a port before them.
 */
final class TextLine
{
    private const FORMAT = '~^(?:[^\s:]++:\d++ (?=[\da-fA-F]*+[.:][\da-fA-F.:]*+ ))?(\S++) \S++ (.*?) \[(\d\d/[A-Za-z]{3}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4})\] "([^"\\\\]*+(?:\\\\.[^"\\\\]*+)*+)" \d{3} \S++'
        . '(?: "[^"\\\\]*+(?:\\\\.[^"\\\\]*+)*+" "([^"\\\\]*+(?:\\\\.[^"\\\\]*+)*+)")?~';

    /** The time that was read last: in most logs many lines in a row have the same one. */
    private string $lastTime = '';
    private ?int $lastMilliseconds = null;

    public function parse(string $line): ?LogEntry
    {
        if (!preg_match(self::FORMAT, $line, $match)) {
            return null;
        }
        if ($match[3] !== $this->lastTime) {
            $this->lastTime = $match[3];
            $this->lastMilliseconds = LogTime::fromText($match[3]);
        }
        if ($this->lastMilliseconds === null) {
            return null;
        }
        return new LogEntry($this->lastMilliseconds, $match[1], $match[4], $match[5] ?? '', $match[2] === '-' ? null : $match[2]);
    }
}
