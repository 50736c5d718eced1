<?php
/*
 * The journal of the clients' calls: one file for each second and client, removed once it is read, so that the
 * journal does not grow with the length of the soak.
 */

/** The calls of one client in one second, by store. */
final class Second
{
    public array $stores = [];
    public array $errors = [];
    /** By how much the control's sleeps were too long, ns. */
    public array $waits = [];
    public int $pings = 0;
    /** How often the control's server took longer than half of a call's time-out. */
    public int $stalls = 0;
    /** Requests that died with their worker. */
    public int $lost = 0;

    public function control(array $reply): void
    {
        if (isset($reply['sleep'])) {
            $this->waits[] = $reply['sleep'] - 1_000_000 * TIMEOUT_MS;
            return;
        }
        $this->pings++;
        // A call may wait for several replies within its time-out; this is one of them.
        if ($reply['ping'] > 1_000_000 * TIMEOUT_MS / 2) {
            $this->stalls++;
        }
    }

    /** @param list<int|string> $call as page.php reports it */
    public function call(string $store, string $bucket, string $client, array $call): void
    {
        [$before, $after, $took, $queued, $accepted, $degraded, $connected, $warning] = $call;
        $seen = &$this->stores[$store];
        $seen ??= ['calls' => 0, 'admitted' => 0, 'degraded' => 0, 'denied_honest' => 0, 'times' => [], 'slowest' => 0, 'over' => [], 'degraded_at' => [], 'warnings' => [], 'journal' => []];
        $seen['calls']++;
        $seen['admitted'] += $accepted;
        $seen['degraded'] += $degraded;
        $seen['denied_honest'] += (int) ($client === 'honest' && !$accepted);
        $seen['slowest'] = max($seen['slowest'], $took);
        $class = (int) round(8 * log(max(1, $took / 1_000), 2)); // eighths of a doubling, of microseconds
        $seen['times'][$class] = ($seen['times'][$class] ?? 0) + 1;
        // Time beyond the call's budget, without the time it waited for a processor.
        $over = $took - $queued - 1_000_000 * (TIMEOUT_MS + $connected * CONNECT_TIMEOUT_MS);
        if ($over > 0) {
            $seen['over'][] = [$over, $before];
        }
        if ($degraded) {
            $seen['degraded_at'][intdiv($before, 50_000_000)] = [$before, $after];
        }
        if ($warning !== '') {
            $seen['warnings'][] = [$before, $warning];
        }
        if ($accepted && $client === 'attacker') {
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

    /** What the clients saw in a second; null until all of them have written it. */
    public function read(int $second, int $clients): ?array
    {
        for ($i = 0; $i < $clients; $i++) {
            if (!is_file("$this->folder/$second.$i")) {
                return null;
            }
        }
        $seen = [];
        for ($i = 0; $i < $clients; $i++) {
            $seen[] = json_decode(file_get_contents("$this->folder/$second.$i"), true, flags: JSON_THROW_ON_ERROR | JSON_INVALID_UTF8_SUBSTITUTE);
            unlink("$this->folder/$second.$i");
        }
        return $seen;
    }
}
