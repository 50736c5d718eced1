<?php
/*
 * Several hosts on this machine: processes with tables of their own, as in php-tests/07_servers/leases/lease_bound.phpt.
 */

const HOST_SECONDS = 0.5;

final class Hosts
{
    /** @var array{resource, resource, resource}[] a process, what it reads and what it writes */
    private array $processes = [];

    public function __construct(int $count, string $dsn, string $keys)
    {
        for ($i = 0; $i < $count; $i++) {
            $folder = getenv('BENCH_TABLES') . "/host-$i";
            is_dir($folder) || mkdir($folder);
            $process = proc_open([PHP_BINARY, '-n', '-d', 'memory_limit=1G', '-d', "token_bucket.shm_path=$folder", '-d', 'extension=' . getenv('BENCH_EXTENSION'), __DIR__ . '/host.php', $dsn, $keys], [['pipe', 'r'], ['pipe', 'w']], $pipes);
            $this->processes[] = [$process, ...$pipes];
        }
        foreach ($this->processes as [, , $output]) {
            fgets($output) === "ready\n" || throw new RuntimeException('A host did not start');
        }
    }

    /** Lets all of them ask for HOST_SECONDS, at once; returns how many decisions they got. */
    public function run(): int
    {
        $begin = hrtime(true) + 5_000_000;
        foreach ($this->processes as [, $input]) {
            fwrite($input, "$begin\n");
        }
        $decisions = 0;
        foreach ($this->processes as [$process, , $output]) {
            $decisions += (int) stream_get_contents($output);
            proc_close($process) === 0 || throw new RuntimeException('A host failed');
        }
        return $decisions;
    }
}
