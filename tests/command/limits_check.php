<?php
declare(strict_types=1);

/* `limits check` warns of a file that others may change, and of a password that every user may read. */

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
check('a comment has no password', command(['limits', 'check', 'limits.ini'])['err'] === '');
$posix = extension_loaded('posix') ? [] : ['-d', 'extension=posix'];
if (fileowner("$folder/limits.ini") === 0 && ($posix === [] || is_file(ini_get('extension_dir') . '/posix.so'))) {
    chown("$folder/limits.ini", 65534);
    $result = command(['limits', 'check', 'limits.ini'], '', [], ['-d', 'extension=' . getenv('EXTENSION'), ...$posix]);
    check('another owner', preg_match('~limits\.ini belongs to \w+, whose programs may change the limits: chown root\n$~', $result['err']) === 1, $result);
} else {
    skip('another owner', 'only root can give a file away, and posix knows who runs the command');
}
