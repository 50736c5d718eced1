<?php
/*
 * A Redis of a subject's own, to be stopped and killed.
 */
final class RedisServer
{
    public readonly string $socket;
    private readonly string $folder;
    /** @var ?resource */
    private $process;

    public function __construct()
    {
        $this->folder = sys_get_temp_dir() . '/token_bucket-bench.' . bin2hex(random_bytes(6));
        mkdir($this->folder);
        $this->socket = "$this->folder/redis.sock";
        register_shutdown_function($this->remove(...));
        $this->start();
    }

    public function start(): void
    {
        $null = ['file', '/dev/null', 'r+'];
        $command = ['redis-server', '--port', '0', '--unixsocket', $this->socket, '--dir', $this->folder, '--save', '', '--appendonly', 'no'];
        $this->process = proc_open(['setpriv', '--pdeathsig', 'KILL', ...$command], [$null, $null, $null], $pipes);
        for ($tries = 0; !@fsockopen("unix://$this->socket"); usleep(2_000)) {
            ++$tries < 5_000 || throw new RuntimeException('Redis did not start');
        }
    }

    public function signal(int $signal): void
    {
        proc_terminate($this->process, $signal);
    }

    public function kill(): void
    {
        $this->signal(SIGKILL);
        proc_close($this->process);
        $this->process = null;
        // What a server that is killed leaves behind.
        @unlink($this->socket);
    }

    private function remove(): void
    {
        if ($this->process) {
            $this->signal(SIGCONT);
            $this->kill();
        }
        array_map(unlink(...), glob("$this->folder/*"));
        rmdir($this->folder);
    }
}
