<?php
declare(strict_types=1);

/* The pool's user stops the command that update-firewall has begun, or keeps its output open: no run waits without an end, and none for another. */

require __DIR__ . '/harness.inc';

exec('sh ' . escapeshellarg(__DIR__ . '/../../share/firewall/update-firewall') . ' iptables 2>&1', $usage, $code);
check('an unknown firewall is wrong usage', $code === 2 && str_starts_with($usage[0] ?? '', 'Usage: update-firewall nft|haproxy|crowdsec '), $usage);
if (exec('id -u') !== '0') {
    skip('a command that its user stops', 'only root can start processes of another user');
    return;
}
array_map(static fn (string $name): bool => mkdir("$folder/$name"), ['bin', 'state']);
const AS_USER = 'setpriv --reuid=65534 --regid=65534 --clear-groups';

function program(string $name, string $script): void
{
    chmod(write_file("bin/$name", "#!/bin/sh\n$script\n"), 0o755);
}

/** @return resource a run of root's, with the capabilities that it has as a service */
function begin(int $seconds, string $number): mixed
{
    global $folder;
    preg_match('~^CapabilityBoundingSet=(.*)$~m', file_get_contents(__DIR__ . '/../../share/firewall/token-bucket-firewall.service'), $capabilities);
    return proc_open(
        ['setpriv', '--bounding-set=-all' . strtolower((string) preg_replace('~ ?CAP_~', ',+', $capabilities[1])), 'sh', __DIR__ . '/../../share/firewall/update-firewall', 'nft', 'login', '--direct'],
        [['file', '/dev/null', 'r'], ['file', '/dev/null', 'w'], ['file', "$folder/.err$number", 'w']],
        $pipes,
        $folder,
        ['PATH' => "$folder/bin:" . getenv('PATH'), 'RUNTIME_DIRECTORY' => "$folder/state", 'SECONDS_AT_MOST' => (string) $seconds] + getenv(),
    );
}

/** @return int|null the exit code; null: it goes on after a minute, and was killed */
function ended(mixed $run): ?int
{
    $status = [];
    $has_ended = static function () use ($run, &$status): bool {
        $status = proc_get_status($run);
        return !$status['running'];
    };
    if (!comes_true($has_ended, 60)) {
        proc_terminate($run, SIGKILL);
        return null;
    }
    return $status['exitcode'];
}

/** The number of the process that a program has written, once it is the user's. */
function user_process(): int
{
    global $folder;
    $is_theirs = static fn (string $process): bool => preg_match('~^Uid:\s65534\s~m', (string) @file_get_contents("/proc/$process/status")) === 1;
    wait_until(static fn (): bool => $is_theirs(trim((string) @file_get_contents("$folder/process"))));
    $process = (int) file_get_contents("$folder/process");
    unlink("$folder/process");
    return $process;
}

/** @return int the process of a command that its user has stopped */
function stopped(): int
{
    $process = user_process();
    exec(AS_USER . " sh -c 'kill -STOP $process'", $output, $code);
    check('the user can stop the command', $process > 0 && $code === 0);
    return $process;
}

program('nft', 'cat >/dev/null');
program('token-bucket', "echo \$\$ >'$folder/process'\nexec " . AS_USER . ' sleep 120');

$first = begin(600, '1');
$process = stopped();
$others = array_map(static fn (int $number): mixed => begin(600, (string) $number), [2, 3, 4]);
check('a run ends at once while another one goes on', array_map(ended(...), $others) === [0, 0, 0]);
check('which it does', proc_get_status($first)['running']);
exec("kill -KILL $process");
check('a run without an answer changes nothing', ended($first) === 1 && !is_file("$folder/state/nft/rules"));

$run = begin(1, '5');
$process = stopped();
check('a run ends whose command is stopped', ended($run) === 1);
check('so does the command', !is_dir("/proc/$process"));
check('it says so', str_contains(file_get_contents("$folder/.err5"), 'token-bucket has not ended within 1 s: is a server slow, or was it stopped?'), file_get_contents("$folder/.err5"));

// A program that was taken over leaves a process behind that has what the command was given.
program('token-bucket', AS_USER . " setsid sleep 120 &\necho \$! >'$folder/process'\necho '192.0.2.1 timeout 9s,'");
$run = begin(1, '6');
$process = user_process();
check('a run ends whose output is kept open', ended($run) === 1 && str_contains(file_get_contents("$folder/.err6"), 'another process keeps the output of token-bucket open'), file_get_contents("$folder/.err6"));
check('by another process of its user', is_dir("/proc/$process"));
program('token-bucket', "echo '192.0.2.2 timeout 9s,'");
check('the next run is not kept out', ended(begin(600, '7')) === 0 && file_get_contents("$folder/state/nft/last") === "192.0.2.2 timeout 9s,\n", file_get_contents("$folder/.err7"));
exec("kill -KILL $process");
