<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

use TokenBucket\Command\CommandError;

/**
 * A file that no other user can open: readable by this user alone, and without a name.
 *
 * Its name is removed at once, so nothing stays behind however the process ends. Processes that are forked later share it.
 */
final class TemporaryFile
{
    private const BUFFER = 65_536;

    /** @var resource */
    private $handle;
    private string $buffer = '';

    public function __construct()
    {
        $mask = umask(0o077);
        [$handle, $path] = NewFile::open(sys_get_temp_dir());
        umask($mask);
        if ($handle === false) {
            throw new CommandError('cannot make a file in ' . sys_get_temp_dir() . '; set TMPDIR to a folder that can be written to');
        }
        @unlink($path);
        $this->handle = $handle;
    }

    public function write(string $bytes): void
    {
        $this->buffer .= $bytes;
        if (strlen($this->buffer) >= self::BUFFER) {
            $this->flush();
        }
    }

    public function flush(): void
    {
        if ($this->buffer !== '' && @fwrite($this->handle, $this->buffer) !== strlen($this->buffer)) {
            throw new CommandError('cannot write to a file in ' . sys_get_temp_dir() . '; is it full? TMPDIR names another folder');
        }
        $this->buffer = '';
    }

    /** @return \Generator<string> each line without its end */
    public function lines(): \Generator
    {
        rewind($this->handle);
        while (($line = fgets($this->handle)) !== false) {
            yield substr($line, 0, -1);
        }
    }
}
