<?php
/*
 * A subject's part of the report.
 */

final class Section
{
    /** @var list<array{string, string, string, string, float}> where token_bucket is slower: the measure, the store, the faster limiter, by how much, and its part of token_bucket's */
    public array $losses = [];
    /** @var Goal[] */
    public array $goals = [];
    /** @var string[] lines for the terminal */
    public array $summary = [];
    public string $text = '';
    /** What stands in benchmarks/tables.md alone. */
    public string $tables = '';

    public function __construct(public readonly string $title)
    {
    }
}

final class Goal
{
    public function __construct(
        public readonly string $what,
        public readonly string $goal,
        public readonly string $measured,
        public readonly bool $is_met,
        public readonly bool $is_exactness = false,
    ) {
    }

    /** @return string[] */
    public function row(): array
    {
        return [$this->what, $this->goal, $this->measured, $this->is_met ? 'met' : '**missed**'];
    }
}

/** Of each measure and store the loss that is the greatest. */
function greatest_losses(array $losses): array
{
    $greatest = [];
    foreach ($losses as $loss) {
        $place = "$loss[0] $loss[1]";
        $greatest[$place] = isset($greatest[$place]) && $greatest[$place][4] <= $loss[4] ? $greatest[$place] : $loss;
    }
    return array_values($greatest);
}

/** @param array[] $losses */
function loss_table(array $losses): string
{
    return table(['in', 'on', 'behind', 'by how much'], array_map(fn (array $loss) => array_slice($loss, 0, 4), $losses), 'llll');
}

/** The limiters by store, token_bucket first. */
function by_store(array $limiters): array
{
    $stores = [];
    foreach ($limiters as $name => $limiter) {
        $stores[$limiter->store][$name] = $limiter;
    }
    return $stores;
}

/** How many calls a limiter accepted too many with eight processes at once, in brackets; '' if none. */
function over_admission_of(string $name): string
{
    $data = kept('over_admission');
    $admitted = $data['limiters'][str_replace('_tcp', '_unix', $name)]['admitted'] ?? [0];
    return max($admitted) > $data['limit'] ? ' (which accepted up to ' . number_format(max($admitted)) . " of {$data['limit']})" : '';
}
