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

    /**
     * @param list<string> $buckets all of which the call takes from, or the one that is `charged`
     * @param list<int|string> $call as page.php reports it
     */
    public function call(string $store, array $buckets, string $client, array $call): void
    {
        [$before, $after, $took, $queued, $accepted, $degraded, $connected, $warning, $refunds, $paused, $charged] = $call;
        $seen = &$this->of($store);
        $seen['calls']++;
        $seen['admitted'] += $accepted;
        $seen['degraded'] += $degraded;
        $seen['unasked'] += (int) ($client === 'attacker' && $accepted && !$degraded && !$paused);
        $seen['attacked'] += (int) ($client === 'attacker' && $accepted && !$degraded);
        $seen['denied_honest'] += (int) ($client === 'honest' && !$accepted);
        $seen['slowest'] = max($seen['slowest'], $took);
        $class = (int) round(8 * log(max(1, $took / 1_000), 2)); // eighths of a doubling, of microseconds
        $seen['times'][$class] = ($seen['times'][$class] ?? 0) + 1;
        // Time beyond the call's budget (docs/stores.md, "When a server fails"), without the time it waited for a processor. Servers
        // that answer each have it; those that do not share one.
        $over = $took - $queued - 1_000_000 * (TIMEOUT_MS + $connected * 1.25 * CONNECT_TIMEOUT_MS) * count($buckets);
        if ($over > 0) {
            $seen['over'][] = [$over, $before];
        }
        if ($degraded) {
            $seen['degraded_at'][intdiv($before, 50_000_000)] = [$before, $after];
        }
        if ($warning !== '') {
            $seen['warnings'][] = [$before, $warning];
        }
        // Not a call that is refunded: its tokens come back, even if the reply to the refund is lost. Nor a degraded one on
        // two buckets: either may be the server's or this host's.
        if ($accepted && $client === 'attacker' && !$refunds && !($degraded && count($buckets) > 1)) {
            foreach ($charged === null ? $buckets : [$buckets[$charged]] as $bucket) {
                $seen['journal'][] = [$bucket, $degraded, $before, $after];
            }
        }
    }

    private function &of(string $store): array
    {
        $this->stores[$store] ??= ['calls' => 0, 'admitted' => 0, 'degraded' => 0, 'attacked' => 0, 'unasked' => 0, 'denied_honest' => 0, 'admitted_blocked' => 0, 'permits' => 0, 'crowded' => 0, 'times' => [], 'slowest' => 0, 'over' => [], 'degraded_at' => [], 'warnings' => [], 'journal' => []];
        return $this->stores[$store];
    }

    /** @param array{taken: int, crowded: int} $reply */
    public function permit(string $store, array $reply): void
    {
        $seen = &$this->of($store);
        $seen['permits'] += $reply['taken'];
        $seen['crowded'] += $reply['crowded'];
    }

    /** Counts the calls that a bucket accepted after the first call, which it was blocked after. */
    public function blocked(string $store, array $reply): void
    {
        if (!array_filter($reply, fn (array $call): bool => $call[5] || $call[7] !== '')) {
            $this->stores[$store]['admitted_blocked'] += array_sum(array_column(array_slice($reply, 1), 4));
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
