<?php
/*
 * The report: a table with a row for each store, others of what attackers reached on its sliding windows and of its permits, the
 * reasons for stray degraded answers, and what must not be.
 *
 * attackers accepted, allowed   calls of attackers that were accepted and not refunded, and the most that their buckets and outages
 *                               allow; a call on two buckets counts for each
 * above bound                   accepted calls over capacity + rate x time in some stretch of time, or over the limit in some
 *                               interval of a sliding window: must be 0. A row "lease on ..." allows a lease more in a stretch
 * calls late                    calls longer than their time-outs, and than a busy machine explains: must be 0
 * degraded answers              answered by on_error
 * strays/excused                degraded without an outage: must be 0; excused while the controls were late, too. Each is printed
 *                               with its time, how late the controls were, and the warnings of the store's calls
 * last back ms                  the latest degraded answer after a server's return
 * all up, others down           median and 99th percentile of a call while all servers were up, and while only other stores' were down
 *
 * The last table counts attackers' accepted calls that asked no server: a fifth at least with leases, hardly one without.
 */

/** @param list<list<string|int>> $rows the first is the heading */
function print_table(array $rows): void
{
    $widths = array_map(fn (array $column): int => max(array_map(strlen(...), array_map(strval(...), $column))), array_map(null, ...$rows));
    foreach ($rows as $row) {
        foreach ($row as $i => $cell) {
            echo $i === 0 ? str_pad($cell, $widths[0]) : str_pad((string) $cell, $widths[$i] + 2, ' ', STR_PAD_LEFT);
        }
        echo "\n";
    }
}

function ms(?float $ns, int $digits = 0): string
{
    return $ns === null ? '-' : number_format($ns / 1e6, $digits);
}

final class Report
{
    /** @var list<string> */
    public array $faults = [];

    /** @param array<string, Findings> $findings by store */
    public function __construct(
        private readonly array $findings,
        private readonly array $outages,
        private readonly array $warnings,
        private readonly array $connections,
        private readonly Machine $machine,
        private readonly int $from,
        private readonly int $to,
    ) {
    }

    public function print(): void
    {
        $rows = [
            ['store', 'calls', 'calls', 'attackers', 'attackers', 'accepted/', 'above', 'calls', 'slowest', 'degraded', 'strays/', 'last', 'outages', 'warnings/', 'honest', 'all up', 'others down', 'connections/'],
            ['', 'made', 'accepted', 'accepted', 'allowed', 'allowed', 'bound', 'late', 'ms', 'answers', 'excused', 'back ms', '', 'allowed', 'denied', 'p50/p99 µs', 'p50/p99 µs', 'allowed'],
        ];
        foreach ($this->findings as $name => $found) {
            $rows[] = $this->row($name, $found);
        }
        print_table($rows);
        $rows = [['sliding windows', 'attackers', 'attackers', 'accepted/', 'above'], ['', 'accepted', 'allowed', 'allowed', 'bound']];
        foreach (array_filter($this->findings, fn (Findings $found): bool => $found->store->lease === 0) as $name => $found) {
            $rows[] = [$name, ...$this->attacked($name, $found, true)];
        }
        echo "\n";
        print_table($rows);
        $rows = [['permits', 'taken', 'above the limit']];
        foreach (array_filter($this->findings, fn (Findings $found): bool => $found->store->has_permits()) as $name => $found) {
            $rows[] = [$name, number_format($found->permits), $found->crowded];
            $this->blame($found->crowded > 0, "$name: $found->crowded times more than " . PERMITS . ' permits were held');
            $this->blame($found->permits < 10, "$name: only $found->permits permits were taken");
        }
        echo "\n";
        print_table($rows);
        $rows = [['leases', 'accepted', 'without asking the server']];
        foreach (array_filter($this->findings, fn (Findings $found): bool => $found->store->nodes !== []) as $name => $found) {
            $part = $found->unasked / max(1, $found->attacked);
            $rows[] = [$name, number_format($found->attacked), number_format($found->unasked) . sprintf(' (%.3f)', $part)];
            $this->blame($found->store->lease > 0 && $part < 0.2, "$name: only $found->unasked of $found->attacked calls were accepted by the lease, so leases are not tested");
        }
        echo "\n";
        print_table($rows);
        foreach ($this->findings as $name => $found) {
            array_map(fn (array $stray) => $this->print_stray($name, $found, $stray), $found->strays);
        }
    }

    /** Says when degraded answers came without an outage, what the machine did, and what the calls warned of. */
    private function print_stray(string $name, Findings $found, array $stray): void
    {
        printf(
            "Stray: %s degraded from %s, for %s s; the controls overslept by %s ms%s\n",
            $name, $this->moment($stray[0]), number_format(($stray[1] - $stray[0]) / 1e9, 3), ms($this->machine->overslept($stray[0]), 1),
            $this->machine->stalled(...$stray) ? ', and their server was late' : '',
        );
        $warnings = $found->warnings_around($stray);
        foreach ($warnings ?: ['no warning of this store within ' . WARNED_BEFORE / 1e9 . ' s' => 1] as $text => $times) {
            echo "    $times times: $text\n";
        }
    }

    /**
     * What attackers reached on the sliding windows of a store, or on its buckets.
     *
     * @return list<string|int> accepted, allowed, the ratio, above the bound
     */
    private function attacked(string $name, Findings $found, bool $windows): array
    {
        $bound = $found->bound($windows, $this->from, $this->to, $this->outages);
        $admitted = $found->attackers_admitted($windows);
        $exceeded = $found->exceeded($windows);
        $of = $name . ($windows ? ', sliding windows' : '');
        $this->blame($exceeded > 0, "$of: $exceeded calls were accepted above the bound, the worst " . ms(max(array_column($found->bounds_of($windows), 'worst')), 3) . ' ms too early');
        $this->blame($admitted > $bound, "$of: $admitted accepted, the bound is $bound");
        $this->blame($admitted < 0.4 * $bound, "$of: attackers reached only " . round($admitted / $bound, 2) . ' of the bound, so the bound is not tested');
        return [number_format($admitted), number_format($bound), sprintf('%.3f', $admitted / $bound), $exceeded];
    }

    private function row(string $name, Findings $found): array
    {
        $outages = array_filter($this->outages, fn (Outage $outage): bool => in_array($outage->node, $found->store->nodes, true));
        $late = array_values(array_filter($found->over, fn (array $over): bool => $over[0] > $this->machine->tolerance($over[1])));
        $excused = count(array_filter($found->strays, fn (array $stray): bool => $this->machine->stalled(...$stray)));
        $strays = count($found->strays) - $excused;
        $expected = $this->warnings_expected($found->store, $outages, $excused);
        $connections = array_sum(array_map(fn (Node $node): int => $this->connections[$node->name], $found->store->nodes));
        // MariaDB is used by two DSNs, and each has its own connections.
        $may_have = WORKERS * count($found->store->nodes) * (str_starts_with($name, 'mariadb') ? 2 : 1);
        $times = fn (string $when): string => ($middle = $found->took($when, 0.5)) === null ? '-' : round($middle) . '/' . round($found->took($when, 0.99));

        $this->blame($late !== [], "$name: " . count($late) . ' calls took longer than their budget, the worst by ' . ms($late[0][0] ?? 0, 1) . ' ms at ' . gmdate('H:i:s', intdiv($late[0][1] ?? 0, 1_000_000_000)));
        $this->blame($strays > 0, "$name: $strays times degraded without an outage, and $excused times while the machine was slow; the reasons are below the table");
        $this->blame($this->warnings[$name] > $expected, "$name: {$this->warnings[$name]} warnings, $expected expected");
        // Of a move only calls that write tell, and a worker says so at its second one: few are made within some seconds. With a lease
        // the host may not have to ask.
        $is_noticed = fn (Outage $outage): bool => $outage->kind !== 'move' && $found->store->lease === 0;
        $least = count(array_filter($outages, $is_noticed)) / 2;
        $this->blame($this->warnings[$name] < $least, "$name: only {$this->warnings[$name]} warnings of " . count($outages) . ' outages');
        $share = 100 * $found->degraded / max(1, $found->calls);
        $this->blame($found->store->fail_alone !== null && $share > $found->store->fail_alone, sprintf('%s: %.1f %% of the calls failed, %.1f %% may', $name, $share, $found->store->fail_alone));
        $this->blame($found->store->fail_alone !== null && $found->degraded === 0, "$name: no call failed, so nothing is tested");
        $this->blame($found->denied_honest > 0, "$name: $found->denied_honest honest calls were denied");
        $this->blame($found->admitted_blocked > 0, "$name: $found->admitted_blocked calls were accepted during a block");
        $this->blame($connections > $may_have, "$name: $connections connections, $may_have expected");
        [$all_up, $others] = [$found->took('calm', 0.5), $found->took('others', 0.5)];
        // A call that waits for a stopped server takes the whole time-out.
        $this->blame($all_up && $others > max(5_000, 3 * $all_up) || $found->took('others', 0.99) > 1_000 * TIMEOUT_MS, "$name: slower while other servers were down");

        return [
            $name, number_format($found->calls), number_format($found->admitted), ...$this->attacked($name, $found, false),
            count($late), ms($found->slowest), number_format($found->degraded), "$strays/$excused", $outages ? ms($found->back_after) : '-', count($outages),
            "{$this->warnings[$name]}/$expected", $found->denied_honest, $times('calm'), $times('others'), "$connections/$may_have",
        ];
    }

    /** A time of day, and how long after the ends of the two latest outages of any server. */
    private function moment(int $at): string
    {
        $before = array_slice(array_filter($this->outages, fn (Outage $outage): bool => $outage->from <= $at), -2);
        $since = array_map(fn (Outage $outage): string => sprintf(', %s s after %s was back (%s)', number_format(($at - $outage->to) / 1e9, 3), $outage->node->name, $outage->kind), $before);
        return gmdate('H:i:s', intdiv($at, 1_000_000_000)) . implode('', $since);
    }

    /** How many warnings are allowed: one for each breaker that an outage opens. While two nodes of a cluster are down, all of it is. */
    private function warnings_expected(Store $store, array $outages, int $excused): int
    {
        $is_second = fn (Outage $one): bool => (bool) array_filter($outages, fn (Outage $other): bool => $other->node !== $one->node && $other->from <= $one->from && $one->from < $other->to + BACK_WITHIN);
        $seconds = $store->breakers > 1 ? count(array_filter($outages, $is_second)) : 0;
        // A killed server's unix socket goes too, so both the missing socket and the closed connection are warned of. A
        // database that was stopped ends the statements that timed out meanwhile, and two such failures open the breaker again.
        // One that moves first must not be written to: if the move takes two seconds, on a busy machine, that is warned of, too.
        $kinds = preg_match('~^mysql|\+unix://~', $store->dsn) || $store->name === 'redis, moves' ? 2 : 1;
        $stalls = $store->stalls_every > 0 ? intdiv(intdiv($this->to - $this->from, 1_000_000), $store->stalls_every) : 0;
        // Where calls fail alone, one of the first calls may fail before any process has had an answer.
        return (int) ($store->fail_alone !== null) + $stalls + $kinds * $store->breakers * (count($outages) + $excused) + (CLUSTER_BREAKERS - $store->breakers) * $seconds;
    }

    public function blame(bool $is_so, string $fault): void
    {
        if ($is_so) {
            $this->faults[] = $fault;
        }
    }
}
