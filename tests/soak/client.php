<?php
/*
 * The clients: attackers far above the limit on the same few buckets and sliding windows, floods of new keys, blockers that call on a bucket
 * after they have blocked it, honest clients below their limit, guests that hold permits, and controls that measure the machine.
 */

final class Client
{
    private Second $seen;

    /** @param list<Store> $stores */
    public function __construct(private readonly Fpm $fpm, private readonly array $stores, private readonly Journal $journal, private readonly int $number, private readonly string $kind, private readonly int $offset, private readonly int $control)
    {
        $this->seen = new Second();
    }

    /** Sends requests from one second until another. */
    public function run(int $from, int $until): void
    {
        // In production clients are other machines: here they yield to the servers.
        proc_nice(15);
        // A worker may die in the middle of a request; the read then warns.
        set_error_handler(fn (int $level, string $message) => throw new ErrorException($message));
        $parent = posix_getppid();
        for ($n = 0; ($now = time()) < $until && posix_getppid() === $parent; $n++) {
            for (; $from < $now; $from++) {
                $this->journal->write($from, $this->number, $this->seen);
                $this->seen = new Second();
            }
            $this->request($n);
        }
        for (; $from < $until; $from++) {
            $this->journal->write($from, $this->number, $this->seen);
            $this->seen = new Second();
        }
    }

    private function request(int $n): void
    {
        $store = $this->kind === 'guest' ? $this->meeting_place() : $this->any_store();
        $buckets = [$this->is_at_hot_key() ? array_key_first($store->hot) : $store->target()];
        // Attackers also give tokens back, settle, leave some, and ask two buckets at once, which leases do not serve. The others use buckets
        // and windows in turn.
        $ways = $this->kind === 'attacker' && !$this->is_at_hot_key() ? ($store->lease > 0 ? array_slice(WAYS, 0, ALONE) : WAYS) : [[]];
        $way = $ways[$n % count($ways)];
        if (array_intersect($way, ['with', 'first'])) {
            $buckets = array_rand($store->hot, 2);
            shuffle($buckets);
        }
        $word = ['', ' window', ' calendar'][$n % 3];
        [$capacity, $rate] = $store->limit();
        $get = ['dsn' => $store->dsn, 'offset' => $this->offset] + match ($this->kind) {
            'attacker' => ['id' => $buckets[0], 'tries' => 6, 'capacity' => $capacity, 'rate' => $rate] + array_fill_keys($way, $buckets[1] ?? 1),
            'flood' => ['id' => "flood$word:$this->number-$n", 'tries' => 6, 'capacity' => 5, 'rate' => 1, 'flood' => 1],
            'blocker' => ['id' => "blocked$word:$this->number-$n", 'tries' => 3, 'capacity' => 100, 'rate' => 20, 'block' => 1],
            'honest' => ['id' => "honest$word:$this->number-" . mt_rand(1, 20), 'tries' => 1, 'capacity' => 100, 'rate' => 20],
            // Half of them leave a permit to the others.
            'guest' => ['permits' => PERMITS, 'leave' => mt_rand(0, 1)],
            'control' => $n % 10 === 0 ? ['sleep' => 1_000 * TIMEOUT_MS] : ['ping' => $this->control],
        };
        try {
            $answer = $this->ask($get);
        } catch (ErrorException) {
            $answer = null;
        }
        if ($answer === null) {
            $this->seen->lost++;
        } elseif ($answer->status !== 200 || !is_array($reply = json_decode($answer->body, true))) {
            $this->seen->errors[] = substr("$store->name: $answer->status $answer->body $answer->errors", 0, 500);
        } elseif ($this->kind === 'control') {
            $this->seen->control($reply);
        } elseif ($this->kind === 'guest') {
            $this->seen->permit($store->name, $reply);
        } else {
            foreach ($reply as $call) {
                $this->seen->call($store->name, $buckets, $this->kind, $call);
            }
            if ($this->kind === 'blocker') {
                $this->seen->blocked($store->name, $reply);
            }
        }
        // Attackers do not wait between requests.
        if (!in_array($this->kind, ['attacker', 'guest', 'control'], true)) {
            usleep(mt_rand(0, 10_000));
        }
    }

    /** Any store. Blockers use none on which the block may be this host's own and the next call the server's. */
    private function any_store(): Store
    {
        $stores = array_values(array_filter($this->stores, fn (Store $store): bool => $store->fail_alone === null || $this->kind !== 'blocker'));
        if ($this->is_at_hot_key()) {
            $stores = array_values(array_filter($stores, fn (Store $store): bool => $store->is_hot()));
            // All at the same one, of each for a second.
            return $stores[time() % count($stores)];
        }
        return $stores[mt_rand(0, count($stores) - 1)];
    }

    /** Whether this client is one of those that want one bucket at the same time. */
    private function is_at_hot_key(): bool
    {
        return $this->kind === 'attacker' && $this->number < HOT_CLIENTS;
    }

    /** The store with permits that all guests go to at this time. */
    private function meeting_place(): Store
    {
        $stores = array_values(array_filter($this->stores, fn (Store $store): bool => $store->has_permits()));
        return $stores[intdiv(hrtime(true), 200_000_000) % count($stores)];
    }

    private function ask(array $get): ?Answer
    {
        return FastCgi::receive($this->fpm->send('www', 'page.php', $get));
    }
}
