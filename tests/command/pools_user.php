<?php
declare(strict_types=1);

/*
 * A command that has become the pool's user executes nothing, and that user can neither read nor change it. A process of that user watches
 * each command: it stops every process below this test that it may signal, and tries to open its environment, memory and files.
 */

require __DIR__ . '/application.inc';
require __DIR__ . '/../../php-tests/server.inc';
load_command_classes();

const SECRET = 'SECRET_OF_ROOT';
const SPY = <<<'PHP'
    $below = static function (int $process) use (&$below): array {
        $children = array_filter(explode(' ', trim((string) @file_get_contents("/proc/$process/task/$process/children"))));
        return array_merge($children, ...array_map(static fn (string $child): array => $below((int) $child), $children));
    };
    echo "ready\n";
    while (posix_getppid() === (int) $argv[1]) {
        foreach (array_diff($below((int) $argv[1]), [(string) getmypid()]) as $process) {
            $is_stopped = posix_kill((int) $process, SIGSTOP);
            $opened = [];
            foreach (['environ' => 'r', 'mem' => 'r+', 'maps' => 'r', 'fd/0' => 'r', 'fd/2' => 'r'] as $file => $mode) {
                $handle = @fopen("/proc/$process/$file", $mode);
                $text = $handle === false || $file === 'mem' ? '' : (string) @fread($handle, 65_536);
                // A process that has ended has no memory, and anybody may open that.
                $handle === false || $text === '' && $file !== 'mem' || $opened[] = $file . (str_contains($text, $argv[2]) ? ' with the secret' : '');
            }
            $name = trim(strtr((string) @file_get_contents("/proc/$process/cmdline"), "\0", ' '));
            $is_stopped && posix_kill((int) $process, SIGCONT);
            if ($name !== '' && ($is_stopped || $opened !== [])) {
                echo json_encode([$name, $opened]), "\n";
            }
        }
    }
    PHP;

$words = [
    'status' => [],
    'top' => [],
    'denials' => [],
    'peek' => ['login', 'anna'],
    'reset' => ['login', 'anna'],
    'block' => ['login', 'anna', '1m'],
    'unblock' => ['login', 'anna'],
    'blocked' => ['login'],
    'forget' => ['Redis at 127.0.0.1:1'],
    'measure' => ['--seconds', '1', '--processes', '2'],
];
$with_user = array_filter(require __DIR__ . '/../../share/command/commands.php', static fn (array $command): bool => in_array('user', array_column($command['class']::options(), 'name'), true));
check('every command with --user is tried', array_keys($with_user) == array_intersect(array_keys($with_user), array_keys($words)) && count($with_user) === count($words), array_keys($with_user));

if (exec('id -u') !== '0' || exec('id -u nobody') !== '65534' || !is_file('/proc/self/task/' . getmypid() . '/children')) {
    skip('a command of root and the user that it becomes', 'needs root, the user nobody, and /proc/PID/task/PID/children');
    return;
}
// As in a checkout below /root: the user may not read the command.
chmod($folder, 0o755);
exec('cp -R ' . escapeshellarg(dirname(__DIR__, 2) . '/bin') . ' ' . escapeshellarg($folder) . ' && mkdir ' . escapeshellarg("$folder/share")
    . ' && cp -R ' . escapeshellarg(dirname(__DIR__, 2) . '/share/command') . ' ' . escapeshellarg("$folder/share") . ' && chmod -R go-rwx ' . escapeshellarg("$folder/bin") . ' ' . escapeshellarg("$folder/share"));
mkdir("$folder/shm");
chmod("$folder/shm", 0o1777);
write_file('limits.ini', "[login]\nlimit = 3\ninterval = 900\n");
// root is the pool's user, and --user names another one. shm_path and limits have the command start PHP again.
$pool = write_file('www.conf', "[www]\nuser = root\nphp_admin_value[token_bucket.shm_path] = $folder/shm\nphp_admin_value[token_bucket.limits] = $folder/limits.ini\n");
$words['measure'][] = (new Server('redis+unix'))->dsn();

/** @return int the exit code */
$run = static function (string $name, array $before = []) use ($folder, $words, $options, $pool): int {
    $process = proc_open(
        // Processes of a command wait for each other longer than PHP waits for a socket.
        [...$before, ...php([...$options, '-d', 'default_socket_timeout=0']), "$folder/bin/token-bucket", $name, ...$words[$name], '--pool', $pool, '--user', 'nobody'],
        [['file', '/dev/null', 'r'], ['file', "$folder/.out", 'w'], ['file', "$folder/.err", 'w']],
        $pipes,
        $folder,
        [SECRET => 'x'] + getenv(),
    );
    return proc_close($process);
};
$seen = static fn (): string => file_get_contents("$folder/.out") . file_get_contents("$folder/.err");

$spy = proc_open(['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', '--pdeathsig=KILL', ...php(extension_loaded('posix') || !is_file(ini_get('extension_dir') . '/posix.so') ? [] : ['-d', 'extension=posix']), '-r', SPY, (string) getmypid(), SECRET],
    [1 => ['file', "$folder/.spy", 'w']], $pipes);
wait_until(static fn (): bool => str_contains((string) @file_get_contents("$folder/.spy"), 'ready'));
foreach (array_keys($with_user) as $name) {
    $code = $run($name);
    check("$name works while its user stops it and lets it go on", $code === ($name === 'forget' ? 1 : 0), $seen());
}
proc_terminate($spy, SIGKILL);
proc_close($spy);
$processes = array_filter(array_map(static fn (string $line): mixed => json_decode($line, true), file("$folder/.spy")));
$open = array_filter($processes, static fn (array $process): bool => $process[1] !== []);
check('the user can open nothing of the processes below', $open === [], array_slice($open, 0, 5));
check('the user has stopped processes', count($processes) > 0 && str_contains(implode(array_column($processes, 0)), ' measure '), count($processes));

if (exec('strace -qq -o /dev/null true 2>&1') !== '') {
    skip('what is executed', 'needs strace');
} else {
    foreach (array_keys($with_user) as $name) {
        $run($name, ['strace', '-f', '-qq', '-s', '16', '-e', 'trace=execve,setuid,setresuid,?fork,?vfork,clone,?clone3', '-o', "$folder/.strace"]);
        $lines = file("$folder/.strace", FILE_IGNORE_NEW_LINES);
        $executed = executed_by_user($lines);
        check("$name becomes the user, and executes nothing afterwards", $executed === [], $executed ?? array_slice($lines, -10));
    }
}

/**
 * @param list<string> $lines of strace
 *
 * @return list<string>|null what the process that became the user executes, and those that it forks; null: none has become the user
 */
function executed_by_user(array $lines): ?array
{
    $calls = array_map(static fn (string $line): array => preg_match('~^(\d+) +(.*)$~', $line, $parts) === 1 ? [(int) $parts[1], $parts[2]] : [0, ''], $lines);
    // From which line on a process is the user's. A child's first lines may stand before the end of the fork.
    $since = [];
    do {
        $before = $since;
        foreach ($calls as $number => [$process, $call]) {
            if (preg_match('~set(?:res)?uid.* = 0$~', $call) === 1) {
                $since[$process] ??= $number;
            } elseif (preg_match('~^(?:<\.\.\. )?(?:v?fork|clone3?)\b.* = (\d+)$~', $call, $child) === 1 && $number > ($since[$process] ?? INF)) {
                $since[(int) $child[1]] = -1;
            }
        }
    } while ($since !== $before);
    $executed = array_filter($calls, static fn (array $call, int $number): bool => str_starts_with($call[1], 'execve(') && $number > ($since[$call[0]] ?? INF), ARRAY_FILTER_USE_BOTH);
    return $since === [] ? null : array_values(array_column($executed, 1));
}
