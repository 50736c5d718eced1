<?php
declare(strict_types=1);

/* `limits check` warns of a file that others may change or replace, and of a password that every user may read. */

require __DIR__ . '/harness.inc';

const LIMIT = "[login]\nlimit = 1\ninterval = 900\n";
const CHANGED_BY_OTHERS = ' may be written to by others, who set the limits then: chmod go-w';
const READ_BY_ALL = ' has a password and may be read by every user: chmod o-r';
// Password or not, mode, warnings.
$files = [
    'readable' => ['redis://10.0.0.5', 0o644, []],
    'writable by the group' => ['redis://10.0.0.5', 0o664, [CHANGED_BY_OTHERS]],
    'writable by all' => ['redis://10.0.0.5?on_error=closed', 0o646, [CHANGED_BY_OTHERS]],
    'a password for all' => ['redis://:s3cret@10.0.0.5', 0o644, [READ_BY_ALL]],
    'of a socket' => ['redis+unix://limiter:s3cret@/run/redis.sock', 0o604, [READ_BY_ALL]],
    'of sentinels' => ['redis+sentinel://10.0.0.5/main?sentinel_password=s3cret', 0o644, [READ_BY_ALL]],
    'a password for the group' => ['redis://:s3cret@10.0.0.5', 0o640, []],
    'both' => ['mysql://limiter:s3cret@10.0.0.5/shop', 0o666, [CHANGED_BY_OTHERS, READ_BY_ALL]],
];
foreach ($files as $name => [$storage, $mode, $warnings]) {
    chmod($file = write_file('limits.ini', LIMIT . "storage = \"$storage\"\n"), $mode);
    $result = command(['limits', 'check', 'limits.ini']);
    $expected = implode('', array_map(static fn (string $warning): string => "$file$warning\n", $warnings));
    check("$name: " . (count($warnings) ?: 'no') . ' warnings', $result['code'] === 0 && $result['err'] === $expected, $result);
    check("$name: the password is not shown", !str_contains($result['out'] . $result['err'], 's3cret'), $result);
}
chmod(write_file('limits.ini', "; storage = \"redis://:s3cret@10.0.0.5\"\n" . LIMIT), 0o644);
write_file('short.ini', "[short]\nlimit = 5000\ninterval = 0.01\n[minute]\nlimit = 1\ninterval = 59.7\n");
$result = command(['limits', 'check', 'short.ini']);
check('an interval is shown in two digits, and in minutes where it is one', preg_match('~^minute +1 in 1 min, token_bucket\nshort +5,000 in 0\.01 s, token_bucket\n$~', $result['out']) === 1, $result);
check('a comment has no password', command(['limits', 'check', 'limits.ini'])['err'] === '');

$file = write_file('limits.ini', LIMIT . "except = 2001:db8::1 2001:db8:7::/64, 10.0.0.1 anna ; 2001:db8::2\n");
chmod($file, 0o644);
check_same('an address of IPv6 that is exempt alone', "$file exempts 2001:db8::1, one address: clients that are counted by network, as IPv6 is, are 2001:db8::/64\n", command(['limits', 'check', 'limits.ini'])['err']);

// Whoever may write to a folder on the way may put another file there.
const REPLACED_BY_OTHERS = ' may be replaced by others, who set the limits then: ';
mkdir("$folder/outer");
mkdir("$folder/outer/inner");
mkdir("$folder/links");
$check = static function (string $named, int $outer, int $links) use ($folder): array {
    chmod(write_file('outer/inner/limits.ini', LIMIT), 0o644);
    chmod("$folder/outer", $outer);
    chmod("$folder/links", $links);
    return command(['limits', 'check', $named]);
};
symlink('../outer/inner/limits.ini', "$folder/links/limits.ini");
$file = "$folder/outer/inner/limits.ini";
$folders = [
    'folders of this user alone' => ['outer/inner/limits.ini', 0o755, 0o777, null],
    'a folder above for the group' => ['outer/inner/limits.ini', 0o775, 0o755, "$folder/outer"],
    'a folder above for all' => ["$folder/outer/inner/limits.ini", 0o757, 0o755, "$folder/outer"],
    'a sticky folder for all' => ['outer/inner/limits.ini', 0o1777, 0o755, null],
    'the folder of a link' => ['links/limits.ini', 0o755, 0o777, "$folder/links"],
    'the folder of what a link names' => ['links/limits.ini', 0o777, 0o755, "$folder/outer"],
];
foreach ($folders as $name => [$named, $outer, $links, $weak]) {
    $result = $check($named, $outer, $links);
    check($name, $result['code'] === 0 && $result['err'] === ($weak === null ? '' : $file . REPLACED_BY_OTHERS . "$weak may be written to by others: chmod go-w\n"), $result);
}
chmod(write_file('outer/clients', "192.0.2.1 = 5\n"), 0o644);
write_file('limits.ini', LIMIT . "clients = outer/clients\n");
chmod("$folder/outer", 0o777);
$result = command(['limits', 'check', 'limits.ini']);
check('the folder of a file of clients', $result['code'] === 0 && $result['err'] === "$folder/outer/clients" . REPLACED_BY_OTHERS . "$folder/outer may be written to by others: chmod go-w\n", $result);
write_file('limits.ini', LIMIT . "clients = fifo\n");
// To open a device may already do something. A FIFO shows it: its writer waits until somebody opens it.
exec('mkfifo ' . escapeshellarg("$folder/fifo"));
$writer = proc_open(['sh', '-c', 'echo ready; exec 3>"$0/fifo"; : >"$0/opened"', $folder], [1 => ['pipe', 'w']], $pipes);
fgets($pipes[1]);
usleep(100_000);
$result = command(['limits', 'check', 'limits.ini']);
usleep(100_000);
check('a file of clients that is none is refused, and not opened', $result['code'] === 1 && str_contains($result['err'], 'must be a regular file') && !file_exists("$folder/opened"), $result);
proc_terminate($writer, SIGKILL);
proc_close($writer);
write_file('limits.ini', LIMIT);
$posix = extension_loaded('posix') ? [] : ['-d', 'extension=posix'];
if (fileowner("$folder/limits.ini") === 0 && ($posix === [] || is_file(ini_get('extension_dir') . '/posix.so'))) {
    chown("$folder/limits.ini", 65534);
    $check_as_root = static fn (string $named): array => command(['limits', 'check', $named], '', [], ['-d', 'extension=' . getenv('EXTENSION'), ...$posix]);
    $result = $check_as_root('limits.ini');
    check('another owner', preg_match('~limits\.ini belongs to \w+, whose programs may change the limits: chown root\n$~', $result['err']) === 1, $result);
    $check('outer/inner/limits.ini', 0o755, 0o755);
    chown("$folder/outer", 65534);
    $result = $check_as_root('outer/inner/limits.ini');
    check('a folder of another owner', $result['err'] === "$file" . REPLACED_BY_OTHERS . "$folder/outer belongs to " . exec('id -un 65534') . ": chown root\n", $result);
    chown("$folder/outer", 0);
    lchown("$folder/links/limits.ini", 65534);
    $result = $check_as_root('links/limits.ini');
    check('a link of another owner', $result['err'] === "$file" . REPLACED_BY_OTHERS . "$folder/links/limits.ini belongs to " . exec('id -un 65534') . ": chown root\n", $result);
} else {
    skip('another owner', 'only root can give a file away, and posix knows who runs the command');
}
