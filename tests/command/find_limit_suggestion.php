<?php
declare(strict_types=1);

/* A log whose right limits are known gets these limits; they are what the extension decides, and a limits.ini that it reads. */

require __DIR__ . '/harness.inc';
require __DIR__ . '/synthetic_log.inc';

$log = write_file('access.log', synthetic_log());
$clients = PEOPLE + BURSTS + SCRAPERS;

/** @return array<string, int> capacity by rate */
function capacities(array $suggestions): array
{
    return array_column($suggestions, 'capacity', 'rate');
}

$found = find_limit($log, '--match', 'POST /login', '--rates', '1/min,1/h');
check('every line is read', $found['lines'] === substr_count(file_get_contents($log), "\n") && $found['broken_lines'] === 0, $found['lines']);
check('only the lines that match are counted', $found['requests'] === $found['lines'] - 3 * PEOPLE, $found['requests']);
check('clients are told apart', $found['clients_by_behaviour'] === ['people' => PEOPLE, 'machine' => SCRAPERS, 'one-off burst' => BURSTS], $found['clients_by_behaviour']);

// 0.1 % of 2,030 clients are two, so that eight scrapers must pass: a minute gives a token back, and each of them tries twice in it.
$deepest = (int) ceil((SCRAPER_TRIES * 60 - 30 * (SCRAPER_TRIES - 1)) / 60);
check('the suggestion of all clients', capacities($found['suggestions'])['1/min'] === $deepest, $found['suggestions']);
// 0.1 % of 2,000 people are two: those with five tries.
check('the suggestion of people', capacities($found['suggestions_for_people'])['1/min'] === 3, $found['suggestions_for_people']);
check('written as PHP users do', $found['suggestions_for_people'][0]['php'] === 'TokenBucket::per($storage, $client, 3, 180)', $found['suggestions_for_people'][0]);

$found = find_limit($log, '--match', 'POST /login', '--rates', '1/min', '--deny-share', '1.5', '--capacities', '2,3,4,5,38,39,40');
check('a larger share: 30 clients of 2,030', $found['most_clients_denied'] === 30, $found['most_clients_denied']);
check('denies bursts and scrapers alone', capacities($found['suggestions']) === ['1/min' => 5], $found['suggestions']);
$denied = array_column($found['limits'], null, 'capacity');
$expected = [2 => intdiv(PEOPLE, 3) + 2 + BURSTS + SCRAPERS, 3 => 2 + BURSTS + SCRAPERS, 4 => 2 + BURSTS + SCRAPERS, 5 => BURSTS + SCRAPERS, 38 => BURSTS + SCRAPERS, 39 => SCRAPERS, 40 => SCRAPERS];
foreach ($expected as $capacity => $count) {
    // The two people of five tries are among the third with three tries where their number says so: person 2, 5, 8, ...; not persons 0 and 1.
    check("clients denied by $capacity at once, 1/min", $denied[$capacity]['clients_denied'] === $count, $denied[$capacity]);
}
check('the deepest clients are named first', str_starts_with($denied[5]['first_clients'][0], '203.0.113.'), $denied[5]);

// 39 holds a burst: its requests are not denied. 38 denies each burst one request.
check('requests denied', $denied[38]['requests_denied'] - $denied[39]['requests_denied'] >= BURSTS, [$denied[38], $denied[39]]);
check('a scraper gets what the limit gives', $denied[39]['requests_denied'] === SCRAPERS * (SCRAPER_TRIES - 39 - intdiv(30 * (SCRAPER_TRIES - 1), 60)), $denied[39]);

// A bucket refills in four years at most, so no bucket of 1/h holds 100,000.
$result = command(['find-limit', '--json', $log, '--rates', '1/h', '--capacities', '100000']);
check('a rate that fits none of the capacities has no limit', $result['code'] === 0 && $result['err'] === '' && json_decode($result['out'], true)['limits'] === [], $result);

// With capacities to choose from.
$found = find_limit($log, '--match', 'POST /login', '--rates', '1/min', '--deny-share', '1.5', '--capacities', '4,10');
check('the smallest of those given', capacities($found['suggestions']) === ['1/min' => 10], $found['suggestions']);
$result = command(['find-limit', $log, '--match', 'POST /login', '--rates', '1/min', '--capacities', '4,10']);
check('none of those given may do, but of people alone one', $result['code'] === 0 && str_contains($result['out'], 'none of these limits denies so few')
    && str_contains($result['out'], 'TokenBucket::per($storage, $client, 4, 240)'), $result);
$html = "$folder/report.html";
check('nor in the report', command(['find-limit', $log, '--match', 'POST /login', '--rates', '1/min', '--capacities', '2', '--html', $html])['code'] === 0
    && str_contains(file_get_contents($html), 'None of these limits'));

// The section can be copied.
$found = find_limit($log, '--match', 'POST /login', '--rates', '1/min', '--deny-share', '1.5');
$ini = write_file('limits.ini', $found['strictest']['ini']);
$process = [...php(['-d', 'extension=' . getenv('EXTENSION'), '-d', "token_bucket.limits=$ini", '-d', 'token_bucket.storage=array:']),
    '-r', 'for ($i = 0; TokenBucket\limiter("login_trial", "anna")->consume(); $i++); echo $i;'];
check('limiter() reads the section', shell_exec(implode(' ', array_map('escapeshellarg', $process))) === '5', $found['strictest']['ini']);

// The text has the same numbers.
$text = command(['find-limit', $log, '--match', 'POST /login', '--rates', '1/min', '--deny-share', '1.5'])['out'];
check('the text names the suggestion', str_contains($text, 'TokenBucket::per($storage, $client, 5, 300)') && str_contains($text, "[login_trial]\n    limit = 5\n    interval = 300"), $text);
$lengths = array_map('strlen', explode("\n", str_replace("$folder/", '', $text)));
check('the text fits 80 columns', max($lengths) <= 80, $lengths);
