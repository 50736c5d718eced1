<?php
/*
 * The faults, in an order that the seed decides: each server is stopped and killed, or moves to another address, workers are killed and the pool
 * is reloaded; then the same again in another order.
 */

/** A time in which a server did not answer. */
final class Outage
{
    /** When the server was back; while the outage lasts, when it will be. */
    public int $to;
    public bool $lasts = true;

    /** @param int $from just before the server was stopped or killed, and $down just after */
    public function __construct(public readonly Node $node, public readonly string $kind, public readonly int $from, public readonly int $down, int $for)
    {
        $this->to = $down + $for;
    }

    public function loses_buckets(): bool
    {
        return $this->kind === 'kill' && $this->node->forgets;
    }
}

final class Faults
{
    /** At most so many servers are down at once. */
    private const AT_ONCE = 2;

    /** @var list<Outage> by their beginning */
    public array $outages = [];
    public int $killed = 0;
    public int $reloads = 0;

    /** @var list<array{string, ?Node}> */
    private array $deck = [];
    private int $next = 0;

    /** @param list<Node> $nodes */
    public function __construct(private readonly array $nodes, private readonly Fpm $fpm)
    {
    }

    /** Ends the outages that are due, and begins the next fault. */
    public function tick(bool $may_begin): void
    {
        foreach ($this->outages as $outage) {
            if ($outage->lasts && wall() >= $outage->to) {
                $this->end($outage);
            }
        }
        if ($may_begin && wall() >= $this->next) {
            $this->begin();
            $this->next = wall() + mt_rand(100, 1_500) * 1_000_000;
        }
    }

    private function begin(): void
    {
        if (!$this->deck) {
            foreach ($this->nodes as $node) {
                array_push($this->deck, ...array_map(fn (string $kind): array => [$kind, $node], array_keys($node::FAULTS)));
            }
            array_push($this->deck, ['worker', null], ['worker', null], ['worker', null], ['worker', null], ['reload', null], ['reload', null]);
            shuffle($this->deck);
        }
        foreach ($this->deck as $i => [$kind, $node]) {
            if ($node === null || $this->may_fail($node)) {
                array_splice($this->deck, $i, 1);
                match ($kind) {
                    'worker' => $this->kill_worker(),
                    'reload' => $this->reload(),
                    default => $this->fail($kind, $node),
                };
                return;
            }
        }
    }

    /** Few servers are down at once, and a server that has just come back stays up, so that its recovery is seen. */
    private function may_fail(Node $node): bool
    {
        $recent = array_filter($this->outages, fn (Outage $outage): bool => $outage->lasts || $outage->node === $node && wall() < $outage->to + 4_000_000_000);
        return !array_filter($recent, fn (Outage $outage): bool => $outage->node === $node) && count(array_filter($recent, fn (Outage $outage): bool => $outage->lasts)) < self::AT_ONCE;
    }

    private function fail(string $kind, Node $node): void
    {
        $from = wall();
        $for = mt_rand(...$node::FAULTS[$kind]) * 1_000_000;
        $node->begin($kind);
        $this->outages[] = new Outage($node, $kind, $from, wall(), $for);
    }

    private function end(Outage $outage): void
    {
        $outage->node->end($outage->kind);
        [$outage->to, $outage->lasts] = [wall(), false];
    }

    private function kill_worker(): void
    {
        $this->await_workers();
        $workers = $this->fpm->workers();
        posix_kill($workers[array_rand($workers)], SIGKILL);
        $this->killed++;
    }

    private function reload(): void
    {
        $this->await_workers();
        $this->fpm->reload();
        $this->reloads++;
    }

    private function await_workers(): void
    {
        $this->fpm->wait_until(fn (): bool => count($this->fpm->workers()) === WORKERS, 'all workers');
    }
}
