<?php
/*
 * Writes the tables of fleets and their plots from what the subject scale has measured and what benches/scale has simulated, and prints how far
 * the two are apart.
 */

require __DIR__ . '/lib/bench.php';
require __DIR__ . '/scale/costs.php';
require __DIR__ . '/report/markdown.php';
require __DIR__ . '/report/plots.php';
foreach (['limits', 'costs', 'redis', 'points', 'hot_key', 'growth', 'advice', 'method'] as $file) {
    require __DIR__ . "/report/scale/$file.php";
}

$data = kept('scale');
$simulated = kept('scale-simulated');
$folder = getenv('BENCH_PAGE');
is_dir("$folder/fleet") || mkdir("$folder/fleet");
copy(data_folder() . '/scale-costs.txt', "$folder/fleet/costs.txt");
$model = model_costs($data);
growth_plots($model, $simulated);
file_put_contents("$folder/fleet/tables.md", implode("\n", [
    first_section(kept('environment'), deviations($data['points'], $simulated['points'])),
    cost_section($data, $model),
    redis_section(kept('redis_cost')),
    hot_key_section(kept('hot_key')['cases']),
    full_table_section($data['tables']),
    process_section($data['memory'], kept('one-word')),
    limits_section($simulated['rates']),
    growth_section($simulated),
    client_section($simulated['clients']),
    advice_section($simulated),
    split_section($simulated['split']),
    point_table($data['points'], $simulated['points']),
]));
file_put_contents("$folder/fleet/model.md", implode("\n", [
    "# The model behind the simulated fleets\n\nFor readers of [the tables](tables.md) who want to know how their fleets are simulated. Written by `scripts/bench.sh scale`.\n",
    method_section($data, $simulated['bound']),
    point_section($data['points'], $simulated['points']),
    command_section(),
]));
[$within, $all] = deviations($data['points'], $simulated['points']);
echo "\nSimulated within 20 % of what was measured: $within of $all points. Written: tables.md, model.md, *.svg and costs.txt in $folder/fleet. Compare the numbers of docs/fleet.md with them.\n";
