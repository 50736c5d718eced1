<?php
/*
 * The section on the throughput of several processes.
 */

function throughput(): Section
{
    $section = new Section('Throughput of several processes');
    $data = kept('throughput');
    $limiters = limiters();
    $cores = kept('environment')['cores'];
    $counts = $data['processes'];
    $heads = array_map(fn ($count) => $count === 1 ? '1 process' : "$count processes", $counts);
    $title = fn (string $name) => $limiters[$name]->title . ($limiters[$name]->store === MEMORY ? '' : ", {$limiters[$name]->store}");

    $numbers = [];
    $plots = '';
    foreach (['one' => 'one bucket for all', 'different' => 'a bucket for each'] as $buckets => $what) {
        $lines = [];
        foreach ($data['buckets'][$buckets] as $name => $measured) {
            $numbers[] = [$what, $title($name), ...array_map(fn ($count) => number_format(median($measured[$count])), $counts)];
            $lines[] = $title($name);
            $section->summary[] = "Throughput, $what, " . rtrim($title($name), '`:') . ': ' . number_format(median($measured[1])) . ' a second in one process, ' . number_format(median($measured[2])) . ' in two';
            foreach ($counts as $count) {
                $against = ratio_of($measured[$count], $data['buckets'][$buckets]['shm'][$count]);
                if ($limiters[$name]->store === MEMORY && $against > 1) {
                    $section->losses[] = ['throughput', $what, $title($name) . over_admission_of($name), "in $count processes " . ratio($against) . ' as many decisions as `shm:`', 1 / $against];
                }
            }
        }
        $rows = array_map(fn ($count) => [$count, ...array_map(fn ($measured) => median($measured[$count]), array_values($data['buckets'][$buckets]))], $counts);
        lines("throughput-$buckets", $lines, $rows, ucfirst($what), ['x_label' => 'processes', 'y_label' => 'decisions a second', 'x_base' => 2, 'settings' => 'set xrange [0.9:9]; set xtics (1, 2, 4, 8)']);
        $plots .= "![decisions a second, $what](benchmarks/throughput-$buckets.svg)\n";
    }
    $section->text = "Decisions a second of all processes together, on $cores cores. [In numbers](benchmarks/tables.md#throughput-of-several-processes).\n\n$plots";
    $section->tables = "All processes begin at once, for {$data['seconds']} s; what they decided is added up. This machine has $cores cores: more processes than that share them, and where there is a server it shares them too.\n\n"
        . "Decisions a second, of all processes together:\n\n" . table(['', 'limiter', ...$heads], $numbers, 'llrrrr')
        . "\nThere is no ratio here. What two processes get of one bucket depends on how near to each other a virtual machine's host has its cores: of `shm:` between 0.6 and 1.4 times what one process gets, in runs "
        . "of November 2026.\n";
    $shm = $data['buckets']['different']['shm'];
    $two = ratio_of($shm[2], $shm[1]);
    $section->goals[] = new Goal('`shm:`, different buckets, from one process to two', 'at least 1.8 times as many decisions', ratio($two), $two >= 1.8);
    return $section;
}
