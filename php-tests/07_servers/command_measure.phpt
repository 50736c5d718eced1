--TEST--
Servers: token-bucket measure counts the decisions that the server has made, leaves no key, and shows no password
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require dirname(__DIR__) . '/servers.inc';

/** @return array{out: string, err: string, code: int, commands: list<string>} what the command says, and the command lines seen meanwhile */
function measure(string $words, string $input = ''): array
{
    $command = escapeshellarg(PHP_BINARY) . ' -n ' . getenv('TEST_PHP_EXTRA_ARGS') . ' ' . dirname(__DIR__, 2) . "/bin/token-bucket measure --seconds 1 --processes 2 $words";
    $files = [temporary_file(), temporary_file()];
    $process = proc_open($command, [['pipe', 'r'], ['file', $files[0], 'w'], ['file', $files[1], 'w']], $pipes);
    fwrite($pipes[0], $input);
    fclose($pipes[0]);
    $commands = [];
    while (($status = proc_get_status($process))['running']) {
        foreach (glob('/proc/[0-9]*/cmdline') as $file) {
            $line = (string) @file_get_contents($file);
            if (str_contains($line, 'token-bucket')) {
                $commands[$line] = true;
            }
        }
        usleep(50_000);
    }
    [$out, $err] = array_map(file_get_contents(...), $files);
    return ['out' => $out, 'err' => $err, 'code' => $status['exitcode'], 'commands' => array_keys($commands)];
}

/** What holds of the numbers in JSON. */
function are_numbers_right(array $measured): bool
{
    [$one, $two] = $measured['runs'];
    foreach ($measured['runs'] as $run) {
        // A few decisions, on a busy machine, bear the login and the statements of their connection.
        $most = 2000 * (1 + 100 / $run['decisions']);
        // A process ends its second with the call that it has begun. Half of the calls take the median or longer, one after another.
        $is_right = $run['decisions'] > 0 && $run['per_second'] <= $run['decisions'] && $run['per_second'] > $run['decisions'] / 2
            && $run['median_seconds'] > 0 && $run['median_seconds'] * $run['per_second'] / 2 < 1.02 * $run['processes']
            && $run['median_seconds'] <= $run['percentile_99_seconds'] && $run['percentile_99_seconds'] < 2
            && $run['cores'] > 0 && $run['cores'] < $run['processes'] + 0.1 && $run['host_busy'] > 0 && $run['host_busy'] <= 1
            && $run['bytes_sent'] > 20 && $run['bytes_sent'] < $most && $run['bytes_received'] > 5 && $run['bytes_received'] < $most;
        if (!$is_right) {
            var_dump($run);
            return false;
        }
    }
    return [$one['processes'], $two['processes']] === [1, 2];
}

// Each of three processes asks for each of its buckets once before it measures, and resets it afterwards.
const OTHER_CALLS = 3 * 200;
// No other test has this password in its commands.
$password = 's3cret' . bin2hex(random_bytes(8));
$redis = new Server('redis', ['--requirepass', $password]);
$dsn = "redis://:$password@127.0.0.1:$redis->port?lease=50&on_error=open";
$ask = fn (string $command): string => ask($redis->port, "AUTH $password\r\n$command");
$ask('CONFIG RESETSTAT');
$result = measure('--json -', "$dsn\n");
$measured = json_decode($result['out'], true);
echo 'Redis: ', $result['code'], ' ', $measured['server'] === "redis://127.0.0.1:$redis->port" ? 'named' : $measured['server'], ' ', are_numbers_right($measured) ? 'right' : 'wrong', "\n";
// A server that does not know the script yet fails an EVALSHA, and is sent an EVAL.
preg_match_all('/^cmdstat_eval(?:sha)?:calls=(\d+)/m', $ask('INFO commandstats'), $calls);
preg_match('/^cmdstat_evalsha:.*failed_calls=(\d+)/m', $ask('INFO commandstats'), $failed);
$decisions = array_sum(array_column($measured['runs'], 'decisions'));
$counted = array_sum($calls[1]) - ($failed[1] ?? 0) - OTHER_CALLS;
echo $counted === $decisions ? 'as many as the server has counted' : "$decisions decisions, $counted on the server", '; ', $ask('DBSIZE') === "+OK\r\n:0\r\n+OK\r\n" ? 'no key' : $ask('KEYS *'), "\n";
echo str_contains($result['out'] . $result['err'], $password) ? 'shown' : 'no password', ' in the answer, ', str_contains(implode($result['commands']), $password) ? 'shown' : 'none', ' in ',
    count(array_filter($result['commands'], fn (string $line): bool => str_contains($line, "token-bucket\0measure\0"))) > 0 ? 'the list of processes' : 'no process', "\n";
echo preg_match('~^token-bucket: loads redis://127\.0\.0\.1:\d+ for 1 s with one process and for 1 s with 2; its own keys, token-bucket-measure:' . preg_quote(gethostname(), '~') . ':\*, are reset at the end\n$~', $result['err']) === 1 ? 'announced' : $result['err'], "\n";

foreach (['TB_REDIS_CLUSTER', 'TB_MEMCACHED', 'TB_MARIADB', 'TB_MYSQL'] as $name) {
    $result = measure('--json ' . escapeshellarg(server_dsn($name)));
    echo "$name: ", $result['code'], ' ', are_numbers_right(json_decode($result['out'], true)) ? 'right' : 'wrong', "\n";
}
$pdo = fn (string $name): string => exec('mariadb --no-defaults --skip-ssl -N -S ' . getenv('TB_SERVERS') . "/$name.sock -u root limits -e \"SELECT COUNT(*) FROM token_bucket WHERE identifier LIKE 'token-bucket-measure:%' AND due > 0\"");
echo 'rows in use: ', $pdo('mariadb'), ' ', $pdo('mysql'), "\n";

$result = measure(escapeshellarg(server_dsn('TB_MEMCACHED')));
echo $result['code'], ' ', preg_match('~^memcached://\S+\nprocesses .*\n1 +[\d,]+ +[\d.]+ ms .*\n2 .*\n\nA decision adds .*\nThis server decided .*\nA decision sends .*\nThis host was busy .*\n$~', $result['out']) === 1 ? 'as text' : $result['out'], "\n";

$redis->kill();
$result = measure('-', "$dsn\n");
echo $result['code'], ' ', $result['out'], preg_replace('~^.*\n~', '', $result['err']);
// The breaker of this host's workers has not seen it.
echo in_array("Redis at 127.0.0.1:$redis->port", array_column(TokenBucket\status()['servers'], 'name'), true) ? 'listed' : 'not listed', "\n";
?>
--EXPECTF--
Redis: 0 named right
as many as the server has counted; no key
no password in the answer, none in the list of processes
announced
TB_REDIS_CLUSTER: 0 right
TB_MEMCACHED: 0 right
TB_MARIADB: 0 right
TB_MYSQL: 0 right
rows in use: 0 0
0 as text
1 token-bucket: Redis at 127.0.0.1:%d: cannot connect: Connection refused (os error 111)
not listed
