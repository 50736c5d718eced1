<?php

/*
 * A folder that is not the user's own is refused: a link, a file, one that is open to others, one of another user (as root). So is
 * a token_bucket.shm_path in which others can replace it.
 * Usage: folders.php FOLDER, an empty one
 */

declare(strict_types=1);

use function TokenBucket\StandIn\configure;

require __DIR__ . '/../../../php-tests/check.inc';

/** The reason why a folder is refused; '' if limits are kept there. */
function reason(string $folder): string
{
    configure(['shm_path' => $folder]);
    try {
        return TokenBucket::per(null, 'x', 5, 60)->consume() ? '' : 'denied';
    } catch (TokenBucket\StorageException $e) {
        return $e->getMessage();
    }
}

$root = $argv[1];
$user = fileowner($root);
foreach ([
    'is not a directory; remove it' => static fn (string $path) => symlink($root, $path),
    'is not a directory; remove it ' => static fn (string $path) => touch($path),
    'is open to other users; its mode must be 0700' => static fn (string $path) => mkdir($path) && chmod($path, 0755),
    'belongs to user 65534; remove it' => static fn (string $path) => mkdir($path, 0700) && chown($path, 65534),
    'other users may write to it; chmod go-w, or +t if they need to' => static fn (string $path) => chmod(dirname($path), 0775),
    'a directory of root\'s or of user 0\'s own' => static fn (string $path) => chown(dirname($path), 65534),
    '' => static fn (string $path) => mkdir($path, 0700) && chmod(dirname($path), 01777),
] as $expected => $make) {
    if ($user !== 0 && preg_match('~65534|user 0~', $expected)) {
        continue;
    }
    static $number = 0;
    $base = "$root/base" . $number++;
    mkdir($base);
    $make("$base/token_bucket.$user.stand-in");
    $reason = reason($base);
    check("expected \"$expected\"", $expected === '' ? $reason === '' : str_ends_with($reason, trim($expected)), $reason);
}
// Nor may others lead the path elsewhere.
mkdir("$root/theirs/own", recursive: true);
symlink('theirs/own', "$root/link");
foreach ([0777 => "other users may write to $root/theirs; chmod go-w, or +t if they need to", 0755 => ''] as $mode => $expected) {
    chmod("$root/theirs", $mode);
    $reason = reason("$root/link");
    check("expected \"$expected\"", $expected === '' ? $reason === '' : str_ends_with($reason, $expected), $reason);
}
// The reason is that of the call which failed, and none is told where PHP has none.
$reason = reason('/proc/self/task');
check('a folder that cannot be made', preg_match('~^Cannot make shared memory .*/proc/self/task.*: [A-Z][a-z ]+$~', $reason) === 1 && !str_contains($reason, 'Lstat'), $reason);
