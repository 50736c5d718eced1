--TEST--
lease: a busy host with leases leaves a host that calls once a second as much as it does without leases
--EXTENSIONS--
pcntl
posix
--CONFLICTS--
all
--FILE--
<?php
require dirname(__DIR__, 2) . '/servers.inc';

const SECONDS = 5;
/** Tokens that come back to a bucket in a second. */
const RATE = 10;
/** The workers of the busy host. */
const WORKERS = 2;
/** The part of its calls that the quiet host may get less than without leases: the calls of both come at random times. */
const MARGIN = 0.1;

/** Two hosts, one of which is busy, and buckets of their own: each bucket is there with a lease and without. */
final class Regime
{
    private Server $leased;
    private Server $plain;
    /** @var list<array{resource, resource}> the busy host's workers and the quiet host, each with its output */
    private array $processes = [];

    /**
     * @param float $least and $most: seconds between two calls of the busy host on a bucket
     */
    public function __construct(private int $buckets, private int $capacity, private int $lease, float $least, float $most, private int $begin)
    {
        [$this->leased, $this->plain] = [new Server('redis'), new Server('redis')];
        $busy = $this->folder();
        for ($worker = 0; $worker < WORKERS; $worker++) {
            $this->start($busy, WORKERS * $least, WORKERS * $most);
        }
        $this->start($this->folder(), 1, 1);
    }

    private function folder(): string
    {
        mkdir($folder = ini_get('token_bucket.shm_path') . '/lease-' . bin2hex(random_bytes(4)));
        return $folder;
    }

    private function start(string $folder, float $least, float $most): void
    {
        $dsn = fn (Server $server, int $lease): string => escapeshellarg($server->dsn("lease=$lease&timeout_ms=5000&connect_timeout_ms=5000&on_error=throw"));
        $command = 'exec ' . escapeshellarg(PHP_BINARY) . ' -n ' . getenv('TEST_PHP_EXTRA_ARGS') . " -d token_bucket.shm_path=$folder " . escapeshellarg(__DIR__ . '/lease_pace.inc')
            . " {$dsn($this->leased, $this->lease)} {$dsn($this->plain, 0)} $this->buckets $this->capacity " . RATE . " $least $most " . SECONDS . " $this->begin " . count($this->processes);
        $process = proc_open($command, [['file', '/dev/null', 'r'], ['pipe', 'w']], $pipes);
        $this->processes[] = [$process, $pipes[1]];
    }

    /** @return array{calls: int, with: int, without: int, trips: float} the quiet host's calls, how many were accepted, and how many trips there were for one without leases */
    public function result(): array
    {
        $reports = array_map(fn (array $process): string => stream_get_contents($process[1]), $this->processes);
        [$calls, $with, $without] = json_decode(end($reports)) ?? give_up(implode("\n", $reports));
        [$trips, $trips_without] = array_map(fn (Server $server): int => $server->commands()['evalsha'], [$this->leased, $this->plain]);
        return ['calls' => $calls, 'with' => $with, 'without' => $without, 'trips' => $trips / $trips_without];
    }
}

$begin = hrtime(true) + 1_000_000_000;
// The busy host wants three times the rate; then as much as it can ask for; then a little less than the rate.
$regimes = [
    'scarce, capacity 4 x lease' => new Regime(60, 24, 6, 0, 0.067, $begin),
    'scarce, lease above a quarter' => new Regime(60, 24, 100, 0, 0.067, $begin),
    'scarce, too small for a lease' => new Regime(60, 6, 100, 0, 0.067, $begin),
    'no pause' => new Regime(10, 24, 6, 0, 0, $begin),
    'enough, capacity 4 x lease' => new Regime(40, 24, 6, 0.1, 0.14, $begin),
    'enough, lease above a quarter' => new Regime(40, 24, 100, 0.1, 0.14, $begin),
    'enough, smallest with a lease' => new Regime(40, 8, 100, 0.1, 0.14, $begin),
];
foreach ($regimes as $name => $regime) {
    $found = $regime->result();
    ['calls' => $calls, 'with' => $with, 'without' => $without, 'trips' => $trips] = $found;
    $faults = array_filter([
        'too few calls' => $calls < 30,
        'the quiet host is starved' => $with < $without - MARGIN * $calls,
        'not scarce' => !str_starts_with($name, 'enough') && $without > 0.9 * $calls,
        'no leases' => str_starts_with($name, 'enough') && $trips > 0.75,
        // A proof: calls that come more slowly than tokens leave a token for it.
        'not all calls accepted' => str_starts_with($name, 'enough') && ($with < $calls || $without < $calls),
    ]);
    echo "$name: ", $faults ? implode(', ', array_keys($faults)) . ' ' . json_encode($found) : 'not starved', "\n";
}
?>
--EXPECT--
scarce, capacity 4 x lease: not starved
scarce, lease above a quarter: not starved
scarce, too small for a lease: not starved
no pause: not starved
enough, capacity 4 x lease: not starved
enough, lease above a quarter: not starved
enough, smallest with a lease: not starved
