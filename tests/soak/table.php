<?php
/*
 * The table, and what is wrong in it.
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
        $rows = [['', 'calls', 'admitted', 'attackers', 'bound', 'ratio', 'above', 'late', 'slowest', 'degraded', 'stray', 'back', 'outages', 'warnings', 'denied', 'calm', 'others', 'open']];
        $rows[] = ['', '', '', 'admitted', '', '', 'bound', '', 'ms', '', 'excused', 'ms', '', 'at most', 'honest', 'p50/p99 µs', 'p50/p99 µs', 'of'];
        foreach ($this->findings as $name => $found) {
            $rows[] = $this->row($name, $found);
        }
        print_table($rows);
    }

    private function row(string $name, Findings $found): array
    {
        $outages = array_filter($this->outages, fn (Outage $outage): bool => in_array($outage->node, $found->store->nodes, true));
        $bound = $found->bound($this->from, $this->to, $this->outages);
        $admitted = $found->attackers_admitted();
        $late = array_values(array_filter($found->over, fn (array $over): bool => $over[0] > $this->machine->tolerance($over[1])));
        $excused = count(array_filter($found->strays, fn (array $stray): bool => $this->machine->stalled(...$stray)));
        $strays = count($found->strays) - $excused;
        $expected = $this->warnings_expected($found->store, $outages, $excused);
        $connections = array_sum(array_map(fn (Node $node): int => $this->connections[$node->name], $found->store->nodes));
        // Both DSNs of the database have theirs there.
        $may_have = WORKERS * count($found->store->nodes) * (str_starts_with($name, 'mariadb') ? 2 : 1);
        $times = fn (string $when): string => ($middle = $found->took($when, 0.5)) === null ? '-' : round($middle) . '/' . round($found->took($when, 0.99));

        $this->blame($found->exceeded() > 0, "$name: {$found->exceeded()} calls were admitted above the bound, the worst " . ms(max(array_map(fn (Bound $bound): int => $bound->worst, $found->bounds)), 3) . ' ms too early');
        $this->blame($admitted > $bound, "$name: $admitted admitted, the bound is $bound");
        $this->blame($admitted < 0.5 * $bound, "$name: attackers reached only " . round($admitted / $bound, 2) . ' of the bound, so it says nothing');
        $this->blame($late !== [], "$name: " . count($late) . ' calls took longer than their budget, the worst by ' . ms($late[0][0] ?? 0, 1) . ' ms at ' . gmdate('H:i:s', intdiv($late[0][1] ?? 0, 1_000_000_000)));
        $this->blame($strays > 0, "$name: $strays times degraded without an outage, and $excused times while the machine was slow; the last at " . $this->moment(end($found->strays)[0] ?? 0, $outages));
        $this->blame($this->warnings[$name] > $expected, "$name: {$this->warnings[$name]} warnings, $expected expected");
        $this->blame($outages && $this->warnings[$name] < count($outages) / 2, "$name: only {$this->warnings[$name]} warnings of " . count($outages) . ' outages');
        $this->blame($found->denied_honest > 0, "$name: $found->denied_honest honest calls were denied");
        $this->blame($connections > $may_have, "$name: $connections connections, $may_have expected");
        [$calm, $others] = [$found->took('calm', 0.5), $found->took('others', 0.5)];
        // Who waits for a server that is down waits for as long as his time is.
        $this->blame($calm && $others > max(5_000, 3 * $calm) || $found->took('others', 0.99) > 1_000 * TIMEOUT_MS, "$name: slower while other servers were down");

        return [
            $name, number_format($found->calls), number_format($found->admitted), number_format($admitted), number_format($bound), sprintf('%.3f', $admitted / $bound), $found->exceeded(),
            count($late), ms($found->slowest), number_format($found->degraded), "$strays/$excused", $outages ? ms($found->back_after) : '-', count($outages),
            "{$this->warnings[$name]}/$expected", $found->denied_honest, $times('calm'), $times('others'), "$connections/$may_have",
        ];
    }

    /** A time of day, and how long after the latest outages. */
    private function moment(int $at, array $outages): string
    {
        $before = array_slice(array_filter($outages, fn (Outage $outage): bool => $outage->from <= $at), -2);
        $since = array_map(fn (Outage $outage): string => sprintf(', %s s after %s was back (%s)', number_format(($at - $outage->to) / 1e9, 3), $outage->node->name, $outage->kind), $before);
        return gmdate('H:i:s', intdiv($at, 1_000_000_000)) . implode('', $since);
    }

    /** One of each breaker that an outage opens, whoever made it; and where two nodes of a cluster are away it is down as a whole. */
    private function warnings_expected(Store $store, array $outages, int $excused): int
    {
        $is_second = fn (Outage $one): bool => (bool) array_filter($outages, fn (Outage $other): bool => $other->node !== $one->node && $other->from <= $one->from && $one->from < $other->to + BACK_WITHIN);
        $seconds = $store->breakers > 1 ? count(array_filter($outages, $is_second)) : 0;
        // A server that ends takes its unix socket with it: then a missing socket and a closed connection are warned of. A
        // database that stood still ends the statements that ran out of time meanwhile, and two of them are one more outage.
        $kinds = preg_match('~^mysql|\+unix://~', $store->dsn) ? 2 : 1;
        return $kinds * $store->breakers * (count($outages) + $excused) + (CLUSTER_BREAKERS - $store->breakers) * $seconds;
    }

    public function blame(bool $is_so, string $fault): void
    {
        if ($is_so) {
            $this->faults[] = $fault;
        }
    }
}
