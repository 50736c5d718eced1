<?php
declare(strict_types=1);

/* Broken lines are counted and shown; a log that cannot be used gets a message that says why; nothing is left in the temporary folder. */

require __DIR__ . '/harness.inc';

$good = combined('192.0.2.7', TIME) . combined('192.0.2.7', TIME + 20);

$broken = [
    'garbage', "\x1f\x1e\x00\x7f", '{"ts": 1', '{"ts":"soon","ip":"192.0.2.1","request":"GET /"}', '{"ip":"192.0.2.1","request":"GET /"}', '{"ts":-5,"ip":"192.0.2.1","request":"GET /"}',
    '{"ts":1e300,"ip":"192.0.2.1","request":"GET /"}', '{"ts":[1],"ip":{"a":1},"request":"GET /"}', '[1]', str_replace('2026', '9999', rtrim($good)), str_replace('/Sep/', '/Foo/', rtrim(combined('192.0.2.7', TIME))),
    str_replace('22/Sep', '31/Sep', rtrim(combined('192.0.2.7', TIME))), substr(combined('192.0.2.7', TIME), 0, 40), '{"ts":1,"request":{"uri":"/x"}}',
];
$broken_lines = implode("\n", $broken) . "\n";
$count = substr_count($broken_lines, "\n");
$found = find_limit(write_file('access.log', $good . $broken_lines . str_repeat($good, 219)));
check('broken lines are counted', [$found['broken_lines'], $found['requests'], count($found['broken_samples'])] === [$count, 440, 3], $found);
$text = command(['find-limit', 'access.log'])['out'];
check('and some are shown', str_contains($text, "$count broken lines, not counted, such as:\n    garbage\n    \\x1f\\x1e\\x00\\x7f\n"), $text);

$found = find_limit(write_file('long.log', $good . str_repeat('x', 5_000_000) . "\n" . $good));
check('a line of megabytes is one broken line', [$found['lines'], $found['broken_lines'], $found['requests']] === [5, 1, 4], $found);

$result = command(['find-limit', write_file('ends.gz', gzencode(str_repeat("\n", 20_000_000) . $good))]);
check('a .gz of line ends takes little memory', $result['code'] === 0 && getrusage(1)['ru_maxrss'] < 100_000, getrusage(1)['ru_maxrss']);

/** The message of a call that fails. */
function failure(array $words, string $input = '', array $environment = []): string
{
    $result = command(['find-limit', ...$words], $input, $environment);
    check(implode(' ', $words) . ' fails', $result['code'] === 1 && $result['out'] === '' && !str_contains($result['err'], 'PHP '), $result);
    return $result['err'];
}

$messages = [
    'an empty log' => [[write_file('empty.log', '')], 'no lines in it'],
    'an empty .gz' => [[write_file('empty.gz', gzencode(''))], 'no lines in it'],
    'no line matches' => [['access.log', '--match', 'GET /nothing'], 'matches GET /nothing'],
    'no line names a client' => [[write_file('good.log', $good), '--by', 'user'], '2 lines match, but none of them names a client by user'],
    'another format' => [[write_file('syslog', str_repeat("Sep 22 00:00:00 host sshd[1]: hello\n", 3000)), '--match', 'POST /login'], 'no request, such as "POST /login HTTP/1.1". A line:'],
    'a missing file' => [['missing.log'], 'cannot read missing.log: there is no such file'],
    'a folder' => [['.'], '. is a folder'],
    'zstd' => [[write_file('a.zst', "\x28\xb5\x2f\xfd....")], 'zstdcat FILE | token-bucket find-limit -'],
    'standard input is empty' => [['-'], 'standard input: no lines in it'],
    'nothing but the head of a .gz' => [[write_file('head.gz', substr(gzencode($good), 0, 12))], 'head.gz ends too early'],
    'a report in a folder that is not there' => [['good.log', '--html', 'none/report.html'], '--html: cannot write none/report.html'],
];
foreach ($messages as $name => [$words, $expected]) {
    $message = failure($words);
    check($name, str_contains($message, $expected), $message);
}
chmod(write_file('secret.log', $good), 0);
if (is_readable("$folder/secret.log")) {
    skip('a file that may not be read', 'the superuser may read every file');
} else {
    check('a file that may not be read', str_contains(failure(['secret.log']), 'permission denied'));
}

$whole = gzencode(implode('', array_map(static fn (int $n): string => combined("192.0.2.$n", TIME + $n), range(1, 250))) . random_lines());
foreach (['cut' => [substr($whole, 0, -3000), 'ends too early'], 'damaged' => [substr_replace($whole, str_repeat("\xff", 50), intdiv(strlen($whole), 2), 50), 'is damaged']] as $name => [$bytes, $expected]) {
    $result = command(['find-limit', '--json', write_file("$name.gz", $bytes)]);
    $found = json_decode($result['out'], true);
    check("a .gz that is $name gives what it holds, and a warning", $result['code'] === 0 && $found['requests'] >= 250 && $found['requests'] < 2250
        && str_contains($result['err'], $expected) && str_contains($found['warnings'][0], $expected), $result);
}

$result = command(['find-limit', '--json', 'php://stdin'], $good);
check('a stream without a size is read', $result['code'] === 0 && $result['err'] === '' && json_decode($result['out'], true)['requests'] === 2, $result);

check('a temporary folder that is not there', str_contains(failure(['good.log'], '', ['TMPDIR' => '/nonexistent']), 'set TMPDIR'));

/**
 * Starts find-limit on standard input, and returns when it reads.
 *
 * @return array{process: resource, input: resource}
 */
function reading_process(string $temporary, array $options = [], array $words = []): array
{
    global $folder, $good;
    $process = proc_open(
        [...php($options ?: ['-d', 'extension=' . getenv('EXTENSION')]), __DIR__ . '/../../bin/token-bucket', 'find-limit', '-', '--client', 'word 1', ...$words],
        [['pipe', 'r'], ['file', '/dev/null', 'w'], ['file', "$folder/.err", 'w']],
        $pipes,
        $folder,
        ['TMPDIR' => $temporary] + getenv(),
    );
    // More than the pipe holds, so some of it is being read.
    fwrite($pipes[0], str_repeat($good, 20_000));
    return ['process' => $process, 'input' => $pipes[0]];
}

// A replay is no traffic of this host.
mkdir("$folder/tables");
$result = command(['find-limit', 'good.log'], '', [], ['-d', 'extension=' . getenv('EXTENSION'), '-d', "token_bucket.shm_path=$folder/tables"]);
check('nothing is written into shared memory, no statistics either', $result['code'] === 0 && scandir("$folder/tables") === ['.', '..'], $result);

// Ended in the midst: its files have no names.
foreach ([SIGINT, SIGTERM, SIGKILL] as $signal) {
    $temporary = "$folder/tmp-$signal";
    mkdir($temporary);
    ['process' => $process, 'input' => $input] = reading_process($temporary);
    proc_terminate($process, $signal);
    fclose($input);
    proc_close($process);
    check("signal $signal: no file is left", scandir($temporary) === ['.', '..'], scandir($temporary));
}

// Root opens the files, and then reads them as nobody.
$options = ['-d', 'extension=' . getenv('EXTENSION'), '-d', 'extension=posix'];
$nobody = trim((string) shell_exec('id -u nobody'));
$is_root = trim((string) shell_exec('id -u')) === '0';
if (!$is_root || !is_numeric($nobody) || !str_contains((string) shell_exec(PHP_BINARY . ' -n -d extension=posix -m'), 'posix')) {
    skip('root becomes nobody', 'needs root, a user nobody, and the extension posix');
} else {
    foreach ([[], ['--html', "$folder/roots.html"]] as $words) {
        ['process' => $process, 'input' => $input] = reading_process($folder, $options, $words);
        $status = (string) file_get_contents('/proc/' . proc_get_status($process)['pid'] . '/status');
        // Also the saved ones, which could be had back.
        $is_nobody = preg_match("~^Uid:(\t$nobody){4}$~m", $status) === 1 && preg_match('~^Gid:(?:\t[1-9]\d*){4}$~m', $status) === 1;
        check('root becomes nobody for good ' . implode(' ', $words), $is_nobody && preg_match('~^Groups:.*\b0\b~m', $status) === 0, $status);
        fclose($input);
        check('its logs are read ' . implode(' ', $words), proc_close($process) === 0, file_get_contents("$folder/.err"));
    }
    check('the report is written by root', fileowner("$folder/roots.html") === 0 && str_contains((string) file_get_contents("$folder/roots.html"), '</html>'));
    $result = command(['find-limit', 'good.log', '--client', 'word 1', '--html', 'none/report.html'], '', [], $options);
    check('why it cannot be is said in place of the findings', $result['code'] === 1 && $result['out'] === '' && str_contains($result['err'], '--html: cannot write none/report.html: '), $result);
    chmod(write_file('secret.log', $good), 0o600);
    write_file('secret.copy', $good);
    $result = command(['find-limit', 'secret.log', 'secret.copy'], '', [], $options);
    check('a log that only root can read, and its copy', $result['code'] === 0 && str_contains($result['err'], 'once more'), $result);
}

/** 2,000 lines that gzip cannot make small. */
function random_lines(): string
{
    mt_srand(16);
    $lines = '';
    for ($line = 0; $line < 2000; $line++) {
        $lines .= combined('198.51.100.' . mt_rand(1, 250), TIME + mt_rand(0, 86_400), 'GET /' . bin2hex(pack('N4', mt_rand(), mt_rand(), mt_rand(), mt_rand())));
    }
    return $lines;
}
