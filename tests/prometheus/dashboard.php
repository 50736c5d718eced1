<?php
/*
 * share/grafana.json: every expression is valid and finds what php-fpm has counted.
 */
declare(strict_types=1);

/** @return list<array> the panels of a dashboard that show something */
function panels(array $dashboard): array
{
    return array_values(array_filter($dashboard['panels'], fn (array $panel): bool => $panel['type'] !== 'row'));
}

/** The names of metrics in an expression. */
function metrics_in(string $expression): array
{
    preg_match_all('/\btoken_bucket_\w+/', $expression, $found);
    return $found[0];
}

function check_dashboard(Site $site, Prometheus $prometheus): void
{
    $dashboard = json_decode(file_get_contents(dirname(__DIR__, 2) . '/share/grafana.json'), true, flags: JSON_THROW_ON_ERROR);
    $variables = array_column($dashboard['templating']['list'], null, 'name');
    check_same('the variables', ['datasource', 'prefix', 'limit'], array_keys($variables));
    $ids = array_column($dashboard['panels'], 'id');
    check_same('each panel has an id of its own', $ids, array_values(array_unique($ids)));
    check_same('no panel covers another', [], overlapping($dashboard['panels']));

    $known = array_keys(metric_types($site->get('token_bucket.php')));
    $used = [];
    foreach (panels($dashboard) as $panel) {
        $title = $panel['title'];
        check_same("$title: has a description", true, ($panel['description'] ?? '') !== '');
        check_same("$title: has a unit", true, ($panel['fieldConfig']['defaults']['unit'] ?? '') !== '');
        foreach ($panel['targets'] as $target) {
            check_same("$title: asks the datasource that is chosen", '${datasource}', $target['datasource']['uid']);
            array_push($used, ...metrics_in($target['expr']));
            check_expression($prometheus, $title, $target['expr'], $target['legendFormat']);
        }
    }
    check_same('the dashboard names only metrics of prometheus()', [], array_values(array_diff($used, $known)));
    check_same('the dashboard shows every metric', [], array_values(array_diff($known, $used)));

    foreach (['prefix', 'limit'] as $name) {
        preg_match('/^label_values\((.*), (\w+)\)$/', $variables[$name]['query']['query'], $query);
        $values = $prometheus->ask("label/$query[2]/values", ['match[]' => with_variables($query[1])])['data'];
        check_same("the variable $name offers the values", true, in_array(['prefix' => 'tb:', 'limit' => 'login'][$name], $values, true));
    }
}

/** Prometheus answers the expression with samples that have the labels of the legend. */
function check_expression(Prometheus $prometheus, string $title, string $expression, string $legend): void
{
    $query = with_variables($expression);
    check_same("$title: every variable is known: $query", false, str_contains($query, '$'));
    $samples = $prometheus->await_samples($query);
    if (!is_array($samples) || $samples === []) {
        check_same("$title: $query", 'samples', $samples === [] ? 'no sample' : $samples);
        return;
    }
    preg_match_all('/{{(\w+)}}/', $legend, $labels);
    // Prometheus leaves out a label that is empty.
    $shown = array_keys(array_merge(...array_column($samples, 'metric')));
    check_same("$title: has the labels of its legend: $query", [], array_values(array_diff($labels[1], $shown)));
    $values = array_map(fn (array $sample): string => $sample['value'][1], $samples);
    check_same("$title: has numbers, none of them negative: $query", [], array_values(preg_grep('/NaN|Inf|^-/', $values)));
}

/** An expression as Grafana sends it when all prefixes and limits are chosen. */
function with_variables(string $expression): string
{
    return strtr($expression, ['$__rate_interval' => '1m', '$__range' => '5m', '$prefix' => '.*', '$limit' => '.*']);
}

/** @return list<string> pairs of panels that share a place */
function overlapping(array $panels): array
{
    $pairs = [];
    foreach ($panels as $i => ['gridPos' => $a]) {
        foreach (array_slice($panels, $i + 1) as ['gridPos' => $b, 'title' => $title]) {
            if ($a['x'] < $b['x'] + $b['w'] && $b['x'] < $a['x'] + $a['w'] && $a['y'] < $b['y'] + $b['h'] && $b['y'] < $a['y'] + $a['h']) {
                $pairs[] = "{$panels[$i]['title']} and $title";
            }
        }
    }
    return $pairs;
}
