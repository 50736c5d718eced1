<?php
/*
 * What clients tell of their calls: a file for each second and client, removed once it is read. So the
 * journal never grows, however long the soak.
 */

/** What a client saw in one second, by store. */
final class Second
{
    public array $stores = [];
    public array $errors = [];
    /** By how much waiting took too long, ns. */
    public array $waits = [];
    public int $pings = 0;
    /** How often the server that nobody stops took more than half of that time. */
    public int $stalls = 0;
    /** Requests whose worker died. */
    public int $lost = 0;

    public function control(array $told): void
    {
        if (isset($told['sleep'])) {
            $this->waits[] = $told['sleep'] - 1_000_000 * TIMEOUT_MS;
            return;
        }
        $this->pings++;
        // One wait; what a call has to wait for shares its time.
        if ($told['ping'] > 1_000_000 * TIMEOUT_MS / 2) {
            $this->stalls++;
        }
    }

    /** @param list<int> $call as page.php tells it */
    public function call(string $store, string $bucket, string $who, array $call): void
    {
        [$before, $after, $took, $queued, $accepted, $degraded, $connected] = $call;
        $seen = &$this->stores[$store];
        $seen ??= ['calls' => 0, 'admitted' => 0, 'degraded' => 0, 'denied_honest' => 0, 'times' => [], 'slowest' => 0, 'over' => [], 'degraded_at' => [], 'journal' => []];
        $seen['calls']++;
        $seen['admitted'] += $accepted;
        $seen['degraded'] += $degraded;
        $seen['denied_honest'] += (int) ($who === 'honest' && !$accepted);
        $seen['slowest'] = max($seen['slowest'], $took);
        $class = (int) round(8 * log(max(1, $took / 1_000), 2)); // eighths of a doubling, of microseconds
        $seen['times'][$class] = ($seen['times'][$class] ?? 0) + 1;
        // What is over its budget, not counting the time it had no processor.
        $over = $took - $queued - 1_000_000 * (TIMEOUT_MS + $connected * CONNECT_TIMEOUT_MS);
        if ($over > 0) {
            $seen['over'][] = [$over, $before];
        }
        if ($degraded) {
            $seen['degraded_at'][intdiv($before, 50_000_000)] = [$before, $after];
        }
        if ($accepted && $who === 'attacker') {
            $seen['journal'][] = [$bucket, $degraded, $before, $after];
        }
    }
}

final class Journal
{
    public function __construct(private readonly string $folder)
    {
        mkdir($folder);
    }

    public function write(int $second, int $client, Second $seen): void
    {
        file_put_contents("$this->folder/next.$client", json_encode($seen, JSON_THROW_ON_ERROR | JSON_INVALID_UTF8_SUBSTITUTE));
        rename("$this->folder/next.$client", "$this->folder/$second.$client");
    }

    /** Reads a second once all clients have written it; null before. */
    public function read(int $second, int $clients): ?array
    {
        for ($i = 0; $i < $clients; $i++) {
            if (!is_file("$this->folder/$second.$i")) {
                return null;
            }
        }
        $told = [];
        for ($i = 0; $i < $clients; $i++) {
            $told[] = json_decode(file_get_contents("$this->folder/$second.$i"), true, flags: JSON_THROW_ON_ERROR | JSON_INVALID_UTF8_SUBSTITUTE);
            unlink("$this->folder/$second.$i");
        }
        return $told;
    }
}
