<?php
declare(strict_types=1);

/* The command itself: help, mistakes, exit codes, a missing extension. */

require __DIR__ . '/harness.inc';

$commands = require __DIR__ . '/../../share/command/commands.php';

/** Whether a text fits a terminal of 80 columns and 24 lines. */
function fits_screen(string $text): bool
{
    $lines = explode("\n", rtrim($text, "\n"));
    return count($lines) <= 24 && max(array_map('strlen', $lines)) <= 80;
}

$result = command(['--help']);
check('--help lists every command', $result['code'] === 0 && fits_screen($result['out'])
    && array_filter(array_keys($commands), static fn (string $name): bool => !str_contains($result['out'], "  $name ")) === [], $result);
check('--help says where directives come from', str_contains(strtr($result['out'], "\n", ' '), 'The command reads the php.ini of the command line; PHPRC=/path names another folder. --pool FILE adds the directives of php-fpm.'), $result);
check('help needs no extension', command(['--help'], '', [], [])['code'] === 0);
$result = command([]);
check('no command is wrong usage', $result['code'] === 2 && $result['out'] === '' && str_contains($result['err'], 'Usage:'), $result);
foreach (array_keys($commands) as $name) {
    foreach ([[$name, '--help'], ['help', $name], [$name, '-h']] as $words) {
        $result = command($words, '', [], []);
        check(implode(' ', $words) . ' fits the screen', $result['code'] === 0 && str_contains($result['out'], $commands[$name]['usage']) && fits_screen($result['out']), $result);
    }
}
check('top --help says what its count is', str_contains(strtr(command(['top', '--help'])['out'], "\n", ' '), 'The first column says how often the client was denied. This count is halved for each hour since the last denial.'));

// The options of find-limit are in docs/find-limit.md: find_limit_docs.php.
load_command_classes();
$manual = file_get_contents(__DIR__ . '/../../share/man/token-bucket.1');
foreach (array_diff_key($commands, ['find-limit' => true]) as $name => $command) {
    foreach ($command['class']::options() as $option) {
        check("the man page explains --$option->name of $name", preg_match('~[" ]\\\\-\\\\-' . $option->name . '[ \n]~', $manual) === 1);
    }
}

$result = command(['find-limit', 'access.log'], '', [], []);
check('without the extension it says how to load it', $result['code'] === 1 && str_contains($result['err'], 'php -d extension='), $result);

$log = write_file('access.log', combined('192.0.2.1', 1_790_000_000));
$mistakes = [
    // arguments, and what the message must hold
    [['find-limt'], 'did you mean find-limit?'],
    [['frobnicate'], 'unknown command frobnicate; there is '],
    [["\x1b[2J"], 'unknown command \x1b[2J'],
    [['find-limit', $log, '--macth', 'x'], 'unknown option --macth; did you mean --match?'],
    [['find-limit', $log, '--frobnicate'], 'there is --match, --client, --time, --request, --format, --proxies, --by,'],
    [['find-limit', $log, '-x'], 'unknown option -x'],
    [['find-limit', $log, '--format', 'apache'], '--format must be combined, common, json, or a log_format of nginx or LogFormat of Apache'],
    [['find-limit', $log, '--format', '$remote_addr [$time_local] $status'], '--format lacks the request ($request, %r)'],
    [['find-limit', $log, '--proxies', '10.0.0.0/8,balancer'], '--proxies: must contain addresses and networks like 10.0.0.0/8'],
    [['find-limit', $log, '--by'], '--by lacks its value: --by WHAT'],
    [['find-limit', $log, '--json=yes'], '--json takes no value'],
    [['find-limit', $log, '--by', 'user', '--by', 'network'], '--by is given twice'],
    [['find-limit'], 'no log is named'],
    [['find-limit', '-', '-'], '- is named twice'],
    [['find-limit', $log, '--match', 'login'], '--match must be such as "POST /login"'],
    [['find-limit', $log, '--match', 'POST  /log in'], '--match must be such as'],
    [['find-limit', $log, '--by', 'referer'], '--by must be address, network, user, or field:NAME'],
    [['find-limit', $log, '--by', 'field:'], '--by must be'],
    [['find-limit', $log, '--ipv6-bits', '0'], '--ipv6-bits must be a whole number from 1 to 128; it is "0"'],
    [['find-limit', $log, '--ipv4-bits', 'all'], '--ipv4-bits must be a whole number from 1 to 32'],
    [['find-limit', $log, '--deny-share', '101'], '--deny-share must be a percentage from 0 to 100'],
    [['find-limit', $log, '--deny-share', '1e1'], '--deny-share must be'],
    [['block', '--identifier', 'any:x', '1e999'], 'TIME must be a number of seconds'],
    [['find-limit', $log, '--rates', '10'], '--rates: "10" must be such as 1/s'],
    [['find-limit', $log, '--rates', '10/week'], 'the unit in "10/week" must be s, min, h or d'],
    [['find-limit', $log, '--rates', '3/s'], 'whole number of milliseconds; it gives one each 333.333 ms'],
    [['find-limit', $log, '--rates', '1/s,'], '--rates: "" must be such as'],
    [['find-limit', $log, '--html', $log], 'which the report would replace'],
    [['find-limit', $log, '--html', $folder], '--html must name a file'],
    [['find-limit', $log, '--html', ''], '--html must name a file'],
    [['find-limit', $log, '--capacities', '0'], '--capacities must be whole numbers'],
    [['find-limit', $log, '--capacities', '5 10'], '"5 10" is none'],
];
foreach ($mistakes as [$words, $expected]) {
    $result = command($words);
    check(implode(' ', $words) . ' is wrong usage', $result['code'] === 2 && $result['out'] === '' && str_contains($result['err'], $expected), $result);
}
check('a mistake names the help', str_contains(command(['find-limit', '--x'])['err'], 'See: token-bucket find-limit --help'));
check('a repeated --match is an alternative', find_limit($log, '--match', 'GET /', '--match=POST /')['requests'] === 1);
check('the slowest rates are allowed', command(['find-limit', $log, '--rates', '1/99999999,1/d'])['code'] === 0);
check('-- ends the options', str_contains(command(['find-limit', '--', '--help.log'])['err'], 'cannot read --help.log: there is no such file'));

// A server that does not answer: reset() and block() return nothing, so that a command asks, and peek() what on_error says.
$limits = write_file('limits.ini', "[login]\nlimit = 5\ninterval = 60\nstorage = redis://127.0.0.1:1\n");
$options = ['-d', 'extension=' . getenv('EXTENSION'), '-d', "token_bucket.limits=$limits", '-d', 'log_errors=1'];
if (is_file(ini_get('extension_dir') . '/posix.so')) {
    array_push($options, '-d', 'extension=posix');
}
foreach (['peek' => [], 'reset' => [], 'block' => ['60'], 'unblock' => []] as $name => $seconds) {
    // What one has noticed is known in all processes of a table.
    mkdir("$folder/$name");
    $result = command([$name, '--user', exec('id -un'), 'login', 'x', ...$seconds], '', [], [...$options, '-d', "token_bucket.shm_path=$folder/$name"]);
    check("$name fails with the reason if the server does not answer", $result['code'] === 1 && $result['out'] === ''
        && preg_match('/^token-bucket: Redis at 127\.0\.0\.1:1: cannot connect: Connection refused .*\n/', $result['err']) === 1, $result);
    check("$name says what has changed in an outage", str_contains($result['err'], "\nThe server did not confirm the change: run this again when the server is up.\nIf on_error is fallback, the change holds on this host until then.\n") === ($name !== 'peek'), $result);
}

/** Whether calls of x and y are accepted in the outage that the commands in this folder have met. */
$accepted = static fn (string $in): string => (string) shell_exec(implode(' ', array_map('escapeshellarg', [...php([...$options, '-d', "token_bucket.shm_path=$folder/$in", '-d', 'log_errors=0']),
    write_file('calls.php', '<?php foreach (["x", "y"] as $client) { echo $client, (int) @TokenBucket\limiter("login", $client)->attempt()->isAccepted(), " "; }')])));
check('in an outage a block is in the buckets of on_error=fallback', $accepted('block') === 'x0 y1 ', $accepted('block'));
foreach (['unblock', 'reset'] as $name) {
    command(['block', '--user', exec('id -un'), 'login', 'x', '60'], '', [], [...$options, '-d', "token_bucket.shm_path=$folder/$name"]);
    check("there is a block before $name", $accepted($name) === 'x0 y1 ', $accepted($name));
    command([$name, '--user', exec('id -un'), 'login', 'x'], '', [], [...$options, '-d', "token_bucket.shm_path=$folder/$name"]);
    check("$name lifts it from them, too", $accepted($name) === 'x1 y1 ', $accepted($name));
}

// The directive may be php-fpm's alone.
$result = command(['reset', '--user', exec('id -un'), 'login', 'x'], '', [], [...$options, '-d', 'token_bucket.limits=', '-d', "token_bucket.shm_path=$folder"]);
check('without a file of limits --pool is named', $result['code'] === 1
    && $result['err'] === "token-bucket: token_bucket.limits is empty: set it in php.ini to the path of a file of limits; --pool FILE takes it from a php-fpm pool and its php.ini. For a limit in code write --identifier ID in place of NAME CLIENT\n", $result);

// Installed, the classes are in another folder.
mkdir("$folder/usr/share/token-bucket", 0700, true);
exec('cp -R ' . escapeshellarg(__DIR__ . '/../../bin') . ' ' . escapeshellarg("$folder/usr/bin") . ' && cp -R ' . escapeshellarg(__DIR__ . '/../../share/command') . ' '
    . escapeshellarg("$folder/usr/share/token-bucket/command"));
symlink("$folder/usr/bin/token-bucket", "$folder/link");
$installed = implode(' ', array_map('escapeshellarg', [...php(['-d', 'extension=' . getenv('EXTENSION')]), "$folder/link", 'find-limit', $log]));
check('installed, and called by a link', str_contains((string) shell_exec("$installed 2>&1"), '1 lines, 1 requests'));
check('functions that are disabled', str_contains(command(['find-limit', $log], '', [], ['-d', 'extension=' . getenv('EXTENSION'), '-d', 'disable_functions=pcntl_exec'])['err'],
    'needs PHP\'s extension pcntl'));

$result = command(['--version'], '', [], $options);
check('--version is that of the extension', $result['code'] === 0 && preg_match('~^token-bucket \d+\.\d+\.\d+\S*\n$~', $result['out']) === 1, $result);
$result = command(['--version'], '', [], []);
check('without the extension it says what is missing', $result['code'] === 1 && str_contains($result['err'], 'the extension token_bucket, which has the version, is not loaded'), $result);
