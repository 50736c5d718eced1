--TEST--
The example in front of a language model: of 200 parallel requests those that are accepted spend no more than the budget and one call's cost each
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require dirname(__DIR__) . '/web_server.inc';

const BUDGET = 5_000;
const PARALLEL = 8;
$log = temporary_folder() . '/log';
$server = new PhpServer(dirname(__DIR__, 2) . '/examples/model_proxy.php', PARALLEL, ['log_errors' => '1', 'error_log' => $log], ['BUDGET' => (string) BUDGET]);

/** Sends so many requests at once; returns the answers. */
$ask = fn (int $count, string $key): array => Http::send_all($server->port, array_fill(0, $count, ['/', ["X-API-Key: $key"], 'hello']));
$status = fn (Answer $answer): int => $answer->status;
$answers = $ask(200, 'alpha-key');
$statuses = array_count_values(array_map($status, $answers));
ksort($statuses);
preg_match_all('/alpha spent (\d+)/', file_get_contents($log), $spent);
$sum = array_sum($spent[1]);
// While the budget lasts, each of the calls that run at once may cost more than its estimate.
echo json_encode([array_keys($statuses), $statuses[200] === count($spent[1]), $sum > BUDGET / 2, $sum <= BUDGET + PARALLEL * 502]), "\n";
$denied = array_values(array_filter($answers, fn (Answer $answer): bool => $answer->status === 429))[0];
echo json_encode([$denied->header('content-type') === 'application/problem+json', preg_match('/"budget";r=\d+;t=\d+/', $denied->header('ratelimit'))]), "\n";
// The fields of an answer tell what is left after it was settled.
$first = $ask(1, 'beta-key')[0];
preg_match('/"tokens":(\d+)\}$/', $first->body, $cost);
preg_match('/"budget";r=(\d+)/', $first->header('ratelimit'), $left);
var_dump($cost[1] + $left[1] === BUDGET);
// Guesses at a key: those of one network are limited before the key is looked at.
$guesses = array_count_values(array_map($status, array_merge(...array_map(fn (int $i): array => $ask(1, "guess$i"), range(1, 40)))));
var_dump($guesses[401] < 35, $guesses[429] > 5);
?>
--EXPECT--
[[200,429],true,true,true]
[true,1]
bool(true)
bool(true)
bool(true)
