<?php

/*
 * A folder that is not the user's own is refused: a link, a file, one that is open to others, one of another user (as root).
 * Usage: folders.php FOLDER, an empty one
 */

declare(strict_types=1);

use function TokenBucket\StandIn\configure;

$root = $argv[1];
$user = fileowner($root);
$isRight = true;
foreach ([
    'is not a directory; remove it' => static fn (string $path) => symlink($root, $path),
    'is not a directory; remove it ' => static fn (string $path) => touch($path),
    'is open to other users; its mode must be 0700' => static fn (string $path) => mkdir($path) && chmod($path, 0755),
    'belongs to user 65534; remove it' => static fn (string $path) => mkdir($path, 0700) && chown($path, 65534),
    '' => static fn (string $path) => mkdir($path, 0700),
] as $expected => $make) {
    if ($user !== 0 && str_contains($expected, '65534')) {
        continue;
    }
    static $number = 0;
    $base = "$root/base" . $number++;
    mkdir($base);
    $make("$base/token_bucket.$user.stand-in");
    configure(['shm_path' => $base]);
    try {
        $answer = TokenBucket::per(null, 'x', 5, 60)->consume() ? '' : 'denied';
    } catch (TokenBucket\StorageException $e) {
        $answer = $e->getMessage();
    }
    $isOne = $expected === '' ? $answer === '' : str_ends_with($answer, trim($expected));
    $isRight = $isRight && $isOne;
    $isOne || print("expected \"$expected\": $answer\n");
}
exit($isRight ? 0 : 1);
