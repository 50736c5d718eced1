<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

use TokenBucket\Command\CommandError;
use TokenBucket\Command\Text;

/** A log: a file, one compressed by gzip, or standard input. Gives its whole lines in blocks. */
final class LogInput
{
    private const READ_SIZE = 65_536;
    /** Less of a compressed file, of which a damaged piece gives nothing. */
    private const COMPRESSED_READ_SIZE = 8_192;
    /** A longer line is cut off, so a file that is no log needs no memory. */
    private const LONGEST_LINE = 262_144;
    /** The lines that show the format, and how many bytes are searched for them. */
    private const FIRST_LINES = 1000;
    private const FIRST_SIZE = 1_048_576;
    private const ENOUGH_MATCH = 50;
    /** So many requests in a row are in two logs only if one has a part of the other. */
    private const BEGIN = 10;
    public const LIKE_REQUEST = '~GET|POST|HEAD|PUT|^#Fields:~';
    /** How files of other programs begin, and the command that reads them. */
    private const OTHER_COMPRESSIONS = ["\xfd7zXZ" => 'xzcat', "\x28\xb5\x2f\xfd" => 'zstdcat', 'BZh' => 'bzcat'];

    /** @var resource */
    private $handle;
    public readonly string $name;
    /** In bytes; null for standard input, and where the system does not say. */
    public readonly ?int $size;
    /** Bytes of the file that were read so far, as they are on disk. */
    public int $position = 0;
    /** Why the log could not be read to its end. */
    public ?string $warning = null;
    /** @var \Generator<string> those that were not read yet */
    private \Generator $blocks;
    /** @var list<string> the blocks that firstLines() has read */
    private array $first = [];
    /** @var list<string> the very first lines with a request, as firstLines() has found them */
    public array $begin = [];

    /**
     * @param string $path `-` for standard input
     *
     * @throws CommandError if it cannot be opened
     */
    public function __construct(string $path)
    {
        $this->name = $path === '-' ? 'standard input' : Text::printable($path);
        if ($path !== '-' && is_dir($path)) {
            throw new CommandError("$this->name is a folder; name the log files in it");
        }
        $handle = $path === '-' ? STDIN : @fopen($path, 'r');
        if ($handle === false) {
            throw new CommandError("cannot read $this->name: " . (file_exists($path) ? 'permission denied' : 'there is no such file'));
        }
        $this->handle = $handle;
        $size = $path === '-' ? false : @filesize($path);
        $this->size = $size === false ? null : $size;
        $this->blocks = $this->readBlocks();
    }

    /**
     * The first lines that may match, or those with a request: a program's other messages do not hide its requests.
     *
     * @return list<string>
     */
    public function firstLines(RequestPattern $pattern): array
    {
        $lines = $requests = $matching = [];
        $size = 0;
        while ($this->blocks->valid() && count($matching) < self::FIRST_LINES && $size < self::FIRST_SIZE) {
            $block = (string) $this->blocks->current();
            $this->blocks->next();
            if (trim($block) === '') {
                continue;
            }
            $size += strlen($block);
            $this->first[] = $block;
            $lines_of_block = array_values(array_filter(explode("\n", $block), static fn (string $line): bool => trim($line) !== ''));
            array_push($lines, ...$lines_of_block);
            $requests_of_block = array_values(preg_grep(self::LIKE_REQUEST, $lines_of_block) ?: []);
            array_push($requests, ...$requests_of_block);
            array_push($matching, ...array_values(array_filter($requests_of_block, static fn (string $line): bool => $line[0] === '#' || $pattern->mayMatch($line))));
        }
        $requests = $requests ?: $lines;
        $this->begin = array_slice($requests, 0, self::BEGIN);
        return array_slice(count($matching) >= self::ENOUGH_MATCH ? $matching : $requests, 0, self::FIRST_LINES);
    }

    /** Stands for all its lines, decompressed; empty for a pipe, which can be read once. */
    public function digest(): string
    {
        $position = ftell($this->handle);
        if ($position === false || @fseek($this->handle, 0) !== 0) {
            return '';
        }
        $again = clone $this;
        $digest = hash_init('xxh128');
        foreach ($again->readBlocks() as $block) {
            hash_update($digest, "$block\n");
        }
        fseek($this->handle, $position);
        return hash_final($digest);
    }

    /** @return \Generator<string> whole lines, the first ones too */
    public function blocks(): \Generator
    {
        yield from $this->first;
        for (; $this->blocks->valid(); $this->blocks->next()) {
            yield (string) $this->blocks->current();
        }
    }

    /** @return \Generator<string> */
    private function readBlocks(): \Generator
    {
        $rest = '';
        $is_cut = false;
        foreach ($this->texts() as $text) {
            $end = strrpos($text, "\n");
            if ($end === false) {
                $rest = $is_cut ? '' : $rest . $text;
                if (strlen($rest) > self::LONGEST_LINE) {
                    yield substr($rest, 0, self::LONGEST_LINE);
                    [$rest, $is_cut] = ['', true];
                }
                continue;
            }
            $block = $rest . substr($text, 0, $end);
            if ($is_cut) {
                // What is left of the line that was cut.
                $begin = (int) strpos($text, "\n");
                $block = substr($text, $begin, $end - $begin);
                $is_cut = false;
            }
            $rest = substr($text, $end + 1);
            yield $block;
        }
        if ($rest !== '') {
            yield $rest;
        }
    }

    /** @return \Generator<string> the text, decompressed */
    private function texts(): \Generator
    {
        $bytes = $this->read(self::COMPRESSED_READ_SIZE);
        foreach (self::OTHER_COMPRESSIONS as $magic => $command) {
            if (str_starts_with($bytes, $magic)) {
                throw new CommandError("$this->name is compressed in a way that is not read here; use: $command FILE | token-bucket find-limit -");
            }
        }
        $is_gzip = str_starts_with($bytes, "\x1f\x8b");
        if ($is_gzip) {
            yield from $this->inflated($bytes);
            return;
        }
        for (; $bytes !== ''; $bytes = $this->read(self::READ_SIZE)) {
            yield $bytes;
        }
    }

    /**
     * A gzip file may hold several members in a row, as after `cat a.gz b.gz`.
     *
     * @return \Generator<string>
     */
    private function inflated(string $bytes): \Generator
    {
        $context = self::inflation();
        $length_of_member = 0;
        for (; $bytes !== ''; $bytes = $this->read(self::COMPRESSED_READ_SIZE)) {
            while ($bytes !== '') {
                $before = $length_of_member;
                $text = @inflate_add($context, $bytes);
                if ($text === false) {
                    $this->warning = "$this->name is damaged; what stands before the damage was counted";
                    return;
                }
                // A few bytes may hold megabytes.
                for ($start = 0; $start < strlen($text); $start += self::READ_SIZE) {
                    yield substr($text, $start, self::READ_SIZE);
                }
                $length_of_member = inflate_get_read_len($context);
                if (inflate_get_status($context) !== ZLIB_STREAM_END) {
                    break;
                }
                $bytes = substr($bytes, $length_of_member - $before);
                $context = self::inflation();
                $length_of_member = 0;
                if (trim($bytes, "\0") === '') {
                    // Nothing, or the padding that tapes and some programs leave.
                    break;
                }
            }
        }
        if ($length_of_member > 0) {
            $this->warning = "$this->name ends too early; what it holds was counted";
        }
    }

    private static function inflation(): \InflateContext
    {
        return inflate_init(ZLIB_ENCODING_GZIP) ?: throw new CommandError('zlib cannot decompress: there is no memory for it');
    }

    private function read(int $size): string
    {
        $bytes = @fread($this->handle, $size);
        if ($bytes === false) {
            throw new CommandError("cannot read $this->name: " . (error_get_last()['message'] ?? 'unknown reason'));
        }
        // A pipe may give fewer bytes than asked for, and none only at its end.
        $this->position += strlen($bytes);
        return $bytes;
    }
}
