--TEST--
The example in front of a language model: of 200 parallel requests those that are accepted spend no more than the budget and one call's cost each
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require dirname(__DIR__) . '/base.inc';

const BUDGET = 5_000;
const PARALLEL = 8;
$folder = sys_get_temp_dir() . '/tb-' . bin2hex(random_bytes(6));
mkdir($folder);
$php = 'exec setsid ' . escapeshellarg(PHP_BINARY) . ' -n ' . getenv('TEST_PHP_EXTRA_ARGS') . " -d log_errors=1 -d error_log=$folder/log";
$server = proc_open(
    "$php -S 127.0.0.1:0 " . escapeshellarg(dirname(__DIR__, 2) . '/examples/model_proxy.php'),
    [1 => ['file', '/dev/null', 'w'], 2 => ['file', "$folder/server", 'w']],
    $pipes,
    null,
    ['PHP_CLI_SERVER_WORKERS' => (string) PARALLEL, 'BUDGET' => (string) BUDGET, 'PATH' => getenv('PATH')],
);
// It names its port once it listens.
wait_until(function () use ($folder, &$found): bool {
    return preg_match('~\(http://127\.0\.0\.1:(\d+)\) started~', file_get_contents("$folder/server"), $found) === 1;
});
$port = (int) $found[1];

/** Sends so many requests at once; returns the answers. */
$ask = function (int $count, string $key) use ($port): array {
    $open = [];
    for ($i = 0; $i < $count; $i++) {
        $open[] = $socket = stream_socket_client("tcp://127.0.0.1:$port", timeout: 30);
        fwrite($socket, "POST / HTTP/1.0\r\nX-API-Key: $key\r\nContent-Length: 5\r\n\r\nhello");
    }
    return array_map(stream_get_contents(...), $open);
};
$status = fn (string $answer): int => (int) substr($answer, 9, 3);
$answers = $ask(200, 'alpha-key');
$statuses = array_count_values(array_map($status, $answers));
ksort($statuses);
preg_match_all('/alpha spent (\d+)/', file_get_contents("$folder/log"), $spent);
$sum = array_sum($spent[1]);
// While the budget lasts, each of the calls that run at once may cost more than its estimate.
echo json_encode([array_keys($statuses), $statuses[200] === count($spent[1]), $sum > BUDGET / 2, $sum <= BUDGET + PARALLEL * 502]), "\n";
$denied = array_values(array_filter($answers, fn (string $answer): bool => $status($answer) === 429))[0];
preg_match('/^RateLimit: .*$/m', $denied, $fields);
echo json_encode([str_contains($denied, 'application/problem+json'), preg_match('/"budget";r=\d+;t=\d+/', $fields[0])]), "\n";
// The fields of an answer tell what is left after it was settled.
$first = $ask(1, 'beta-key')[0];
preg_match('/"tokens":(\d+)\}$/', $first, $cost);
preg_match('/"budget";r=(\d+)/', $first, $left);
var_dump($cost[1] + $left[1] === BUDGET);
// Guesses at a key: those of one network are limited before the key is looked at.
$guesses = array_count_values(array_map($status, array_merge(...array_map(fn (int $i): array => $ask(1, "guess$i"), range(1, 40)))));
var_dump($guesses[401] < 35, $guesses[429] > 5);
// Its workers are in the same session.
posix_kill(-proc_get_status($server)['pid'], SIGKILL);
proc_close($server);
remove($folder);
?>
--EXPECT--
[[200,429],true,true,true]
[true,1]
bool(true)
bool(true)
bool(true)
