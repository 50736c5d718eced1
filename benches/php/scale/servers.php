<?php
/*
 * The stores whose costs are measured, and what their servers count of their own.
 */

/** The tokens of a lease, where calls have one. */
const LEASE = 100;

/** The servers of a store: their processes, and a connection to each that reads its counters. */
abstract class Servers
{
    /** What one reading of the counters adds to them. */
    private array $own = [];

    /** @param int[] $pids */
    public function __construct(public readonly array $pids)
    {
        $before = $this->count();
        foreach ($this->count() as $name => $value) {
            $this->own[$name] = $value - $before[$name];
        }
    }

    /** @return array{trips: int, in: int, out: int} since the servers began */
    abstract protected function count(): array;

    /** The bytes that the states of all clients take. */
    abstract public function bytes_kept(): int;

    public static function of(string $store): ?self
    {
        return match ($store) {
            'shm' => null,
            'redis_unix', 'redis_tcp' => new RedisServers([phpredis(redis_dsn('unix'))]),
            'redis_cluster' => new RedisServers(cluster_nodes()),
            'memcached_unix' => new MemcachedServer(getenv('TB_MEMCACHED_UNIX')),
            'memcached_tcp' => new MemcachedServer(getenv('TB_MEMCACHED')),
            'mariadb_unix' => new MariadbServer(),
        };
    }

    /** What the servers spend on $work: processor time, trips, bytes. */
    public function spent(Closure $work): array
    {
        $before = [$this->cpu(), $this->count()];
        $work();
        $cpu = $this->cpu() - $before[0];
        $spent = ['cpu' => $cpu];
        foreach ($this->count() as $name => $value) {
            $spent[$name] = $value - $before[1][$name] - $this->own[$name];
        }
        return $spent;
    }

    private function cpu(): int
    {
        return array_sum(array_map(cpu_time(...), $this->pids));
    }
}

final class RedisServers extends Servers
{
    /** @param Redis[] $nodes */
    public function __construct(private array $nodes)
    {
        parent::__construct(array_map(fn (Redis $node) => $node->info('server')['process_id'], $nodes));
    }

    protected function count(): array
    {
        $count = ['trips' => 0, 'in' => 0, 'out' => 0];
        foreach ($this->nodes as $node) {
            foreach ($node->info('commandstats') as $command => $text) {
                if (preg_match('/^cmdstat_eval.*/', $command) && preg_match('/calls=(\d+)/', $text, $found)) {
                    $count['trips'] += (int) $found[1];
                }
            }
            $stats = $node->info('stats');
            $count['in'] += $stats['total_net_input_bytes'];
            $count['out'] += $stats['total_net_output_bytes'];
        }
        return $count;
    }

    public function bytes_kept(): int
    {
        return array_sum(array_map(fn (Redis $node) => $node->info('memory')['used_memory'], $this->nodes));
    }
}

final class MemcachedServer extends Servers
{
    public function __construct(private string $dsn)
    {
        parent::__construct([$this->stats('stats')['pid']]);
    }

    protected function count(): array
    {
        $stats = $this->stats('stats');
        return ['trips' => $stats['cmd_get'] + $stats['cmd_set'], 'in' => $stats['bytes_read'], 'out' => $stats['bytes_written']];
    }

    /** Chunks are of few sizes, so an item takes more than its bytes. */
    public function bytes_kept(): int
    {
        $bytes = $this->stats('stats')['hash_bytes'];
        $slabs = $this->stats('stats slabs');
        foreach ($slabs as $name => $value) {
            if (str_ends_with($name, ':used_chunks')) {
                $bytes += $value * $slabs[strtok($name, ':') . ':chunk_size'];
            }
        }
        return $bytes;
    }

    /** @return int[] */
    private function stats(string $command): array
    {
        return memcached_stats($this->dsn, $command);
    }
}

final class MariadbServer extends Servers
{
    private PDO $db;

    public function __construct()
    {
        $this->db = pdo('mariadb');
        parent::__construct([sql_pid('mariadb')]);
    }

    protected function count(): array
    {
        $count = $this->db->query("SHOW GLOBAL STATUS WHERE Variable_name IN ('Com_select', 'Com_insert', 'Com_update', 'Bytes_received', 'Bytes_sent')")->fetchAll(PDO::FETCH_KEY_PAIR);
        return ['trips' => $count['Com_select'] + $count['Com_insert'] + $count['Com_update'], 'in' => (int) $count['Bytes_received'], 'out' => (int) $count['Bytes_sent']];
    }

    public function bytes_kept(): int
    {
        $this->db->query('ANALYZE TABLE over_socket')->fetchAll();
        return (int) $this->db->query("SELECT data_length + index_length FROM information_schema.tables WHERE table_schema = 'limits' AND table_name = 'over_socket'")->fetchColumn();
    }
}

/** The DSN of a store, whose calls are never late; with a lease if it is not 0. */
function scale_dsn(string $store, int $lease): ?string
{
    $dsn = match ($store) {
        'shm' => null,
        'redis_unix' => getenv('TB_REDIS_UNIX'),
        'redis_tcp' => getenv('TB_REDIS'),
        'redis_cluster' => getenv('TB_REDIS_CLUSTER'),
        'memcached_unix' => getenv('TB_MEMCACHED_UNIX'),
        'memcached_tcp' => getenv('TB_MEMCACHED'),
        'mariadb_unix' => sql_dsn('mariadb'),
    };
    return $dsn === null ? null : patient($dsn) . "&lease=$lease";
}

/** @return Redis[] the masters of the cluster */
function cluster_nodes(): array
{
    preg_match('~//([^,]+)~', getenv('TB_REDIS_CLUSTER'), $found);
    $first = phpredis("redis://$found[1]");
    preg_match_all('~^\S+ 127\.0\.0\.1:(\d+)\S* \S*master~m', $first->rawCommand('CLUSTER', 'NODES'), $found);
    return array_map(fn (string $port) => phpredis("redis://127.0.0.1:$port"), $found[1]);
}
