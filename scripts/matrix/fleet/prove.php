<?php
/*
 * Two versions of the extension on one server at once, as in a fleet that is being upgraded: what one has written the other
 * reads, and both together admit what a limit allows.
 * Usage: prove.php OLD NEW FOLDER    both builds, and a folder for tables; within scripts/servers.sh
 */
require dirname(__DIR__, 3) . '/php-tests/servers.inc';

[, $old, $new, $folder] = $argv;

final class Worker
{
    private $process;
    private array $pipes = [];

    public function __construct(string $extension, string $tables, string $dsn, string $kind, string $identifier)
    {
        $this->process = proc_open([PHP_BINARY, '-n', '-d', "extension=$extension", '-d', "token_bucket.shm_path=$tables", '-d', 'display_errors=stderr',
            // A host remembers denials for a second, also when another one resets.
            '-d', 'token_bucket.deny_cache=0',
            __DIR__ . '/worker.php', $dsn, $kind, $identifier], [['pipe', 'r'], ['pipe', 'w']], $this->pipes);
        trim((string) fgets($this->pipes[1])) === 'ready' || give_up("FAILED: a worker with $extension on $dsn does not start");
    }

    public function begin(string $call): void
    {
        fwrite($this->pipes[0], "$call\n");
    }

    public function finish(): int
    {
        $line = fgets($this->pipes[1]);
        return $line === false ? give_up('FAILED: a worker has ended') : (int) $line;
    }

    public function call(string $call): int
    {
        $this->begin($call);
        return $this->finish();
    }
}

function expect(int $expected, int $found, string $what): void
{
    $expected === $found || give_up("FAILED: $what: $found, not $expected");
}

// Two hosts, each with one version; and one host on which both run, as while its workers are replaced.
$places = ['two hosts' => ["$folder/old", "$folder/new"], 'one host' => ["$folder/both", "$folder/both"]];
array_map(fn (string $name): bool => mkdir("$folder/$name"), ['old', 'new', 'both']);
$kinds = ['TokenBucket', 'LeakyBucket', 'FixedWindow', 'SlidingWindow', 'Compound'];
$races = 0;
foreach (['TB_REDIS', 'TB_MEMCACHED', 'TB_MARIADB', 'TB_MYSQL'] as $server) {
    $dsn = with((string) getenv($server), 'on_error=throw&timeout_ms=60000&connect_timeout_ms=60000');
    if (str_starts_with($dsn, 'mysql:')) {
        // The old version has made the table.
        exec(implode(' ', array_map(escapeshellarg(...), [PHP_BINARY, '-n', '-d', "extension=$old", '-r', '(new TokenBucket\\MysqlStorage($argv[1]))->prepare();', $dsn])), $output, $status);
        expect(0, $status, "$server: prepare() " . implode("\n", $output));
    }
    foreach ($places as $place => [$tables_of_old, $tables_of_new]) {
        foreach ($kinds as $kind) {
            $name = "$server, $place, $kind";
            // Forwards and backwards: each reads what the other has written.
            foreach (['forwards' => [$old, $tables_of_old, $new, $tables_of_new], 'backwards' => [$new, $tables_of_new, $old, $tables_of_old]] as $way => [$first, $first_tables, $then, $then_tables]) {
                $id = bin2hex(random_bytes(4));
                $first = new Worker($first, $first_tables, $dsn, $kind, $id);
                $then = new Worker($then, $then_tables, $dsn, $kind, $id);
                expect(200, $first->call('take 200'), "$name, $way: taken before");
                expect(100, $then->call('remaining'), "$name, $way: remaining");
                expect(1, $then->call('refund 100'), "$name, $way: refunded");
                expect(100, $then->call('take 150'), "$name, $way: taken after");
                expect(0, $first->call('take 1'), "$name, $way: one too many");
                $first->call('reset');
                expect(300, $then->call('remaining'), "$name, $way: after a reset");
                $first->call('block 60');
                expect(0, $then->call('take 1'), "$name, $way: blocked");
                $then->call('reset');
                expect(1, $first->call('take 1'), "$name, $way: after the block is lifted");
            }
            // Together: 4 processes of each.
            $id = bin2hex(random_bytes(4));
            $workers = [];
            for ($i = 0; $i < 4; $i++) {
                $workers[] = new Worker($old, $tables_of_old, $dsn, $kind, $id);
                $workers[] = new Worker($new, $tables_of_new, $dsn, $kind, $id);
            }
            array_map(fn (Worker $worker) => $worker->begin('take 100'), $workers);
            $admitted = array_sum(array_map(fn (Worker $worker): int => $worker->finish(), $workers));
            expect(300, $admitted, "$name: admitted by 8 processes together");
            $races++;
        }
    }
}

$dsn = with(getenv('TB_REDIS'), 'on_error=throw&timeout_ms=60000&connect_timeout_ms=60000');
foreach ($places as $place => [$tables_of_old, $tables_of_new]) {
    foreach (['forwards' => [$old, $tables_of_old, $new, $tables_of_new], 'backwards' => [$new, $tables_of_new, $old, $tables_of_old]] as $way => [$first, $first_tables, $then, $then_tables]) {
        $id = bin2hex(random_bytes(4));
        $first = new Worker($first, $first_tables, $dsn, 'ConcurrencyLimit', $id);
        $then = new Worker($then, $then_tables, $dsn, 'ConcurrencyLimit', $id);
        expect(2, $first->call('acquire 2'), "permits, $place, $way: before");
        expect(1, $then->call('acquire 2'), "permits, $place, $way: after");
        expect(3, $first->call('active'), "permits, $place, $way: held");
        $first->call('release');
        expect(1, $then->call('active'), "permits, $place, $way: after a release");
    }
}

echo "Old and new on Redis, memcached, MariaDB and MySQL, $races races of 4 and 4 processes: 300 of 800 admitted each time\n";
