<?php
/*
 * Writes scaling.md and its plots from what the subject scale has measured and what benches/scale has simulated, and prints how far
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
is_dir("$folder/scaling") || mkdir("$folder/scaling");
copy(data_folder() . '/scale-costs.txt', "$folder/scaling/costs.txt");
$model = model_costs($data);
file_put_contents("$folder/scaling.md", implode("\n", [
    first_section(kept('environment'), $simulated['rates']),
    cost_section($data, $model),
    hot_key_section(kept('hot_key')['cases']),
    growth_section($data, $model, $simulated),
    advice_section($simulated),
    command_section(),
]));
file_put_contents("$folder/scaling/model.md", implode("\n", [
    "# The model behind scaling\n\nFor readers of [scaling.md](../scaling.md) who want to know how its fleets are simulated. Written by `scripts/bench.sh scale`.\n",
    method_section($data, $simulated['bound']),
    point_section($data['points'], $simulated['points']),
]));
file_put_contents("$folder/scaling/tables.md", implode("\n", [
    "# All tables of scaling\n\nWritten by `scripts/bench.sh scale`. [scaling.md](../scaling.md) says what was measured and simulated, how, and on which machine.\n",
    cost_table($data, $model),
    redis_section(kept('redis_cost')),
    hot_key_table(kept('hot_key')['cases']),
    client_table($simulated['clients']),
    point_table($data['points'], $simulated['points']),
    process_section($data['memory'], kept('one-word')),
]));
[$within, $all] = deviations($data['points'], $simulated['points']);
echo "\nSimulated within 20 % of what was measured: $within of $all points. Written: $folder/scaling.md, and model.md, tables.md, *.svg and costs.txt in $folder/scaling\n";
