<?php
/*
 * A limiter in a process of its own: what its PHP needs cannot be in the process of the others.
 */

final class OtherPhp
{
    /** @var resource */
    private $process;
    /** @var resource */
    private $input;
    /** @var resource */
    private $output;

    public function __construct(private Variant $variant)
    {
        $command = [PHP_BINARY, ...explode("\n", getenv('BENCH_OPTIONS')), ...$variant->options, __DIR__ . '/process.php', $variant->measured];
        $this->process = proc_open($command, [['pipe', 'r'], ['pipe', 'w']], $pipes, null, $variant->environment + getenv());
        [$this->input, $this->output] = $pipes;
        $this->read() === 'ready' || throw new RuntimeException("{$variant->limiter->title} was not opened");
    }

    /** As measured() in measure.php. */
    public function measure(): array
    {
        fwrite($this->input, "measure\n");
        return json_decode($this->read(), true, flags: JSON_THROW_ON_ERROR);
    }

    private function read(): string
    {
        $line = fgets($this->output);
        return $line === false ? throw new RuntimeException("{$this->variant->limiter->title} failed") : trim($line);
    }
}
