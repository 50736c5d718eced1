<?php

/*
 * On a host that has disabled functions, or closed folders: all works, or is an exception of ours that says what is missing.
 * Usage: hosting.php FOLDER [TEXT]    TEXT: what the messages say; all works without it
 */

declare(strict_types=1);

[, $folder, $text] = [...$argv, ''];
TokenBucket\StandIn\configure(($folder === '' ? [] : ['shm_path' => $folder]) + ['limits' => __DIR__ . '/limits.ini']);
$client = bin2hex(random_bytes(4));
$isRight = true;
foreach ([
    'a bucket' => static fn() => [TokenBucket::per(null, $client, 1, 60)->consume(), TokenBucket::per(null, $client, 1, 60)->consume()],
    'a named limit' => static fn() => [TokenBucket\limiter('bucket', $client)->consume(), false],
    'a permit' => static function () use ($client): array {
        $limit = new TokenBucket\ConcurrencyLimit(null, $client, 1);
        $permit = $limit->acquire();
        return [$permit !== null, $limit->acquire() !== null];
    },
    'a wait' => static fn() => [TokenBucket::per(null, "wait:$client", 1, 0.01)->reserve()->wait(), TokenBucket::per(null, $client, 1, 1)->reserve(2)->wait()],
] as $what => $call) {
    try {
        $answer = json_encode($call());
    } catch (TokenBucket\TokenBucketException $e) {
        $answer = $e->getMessage();
    }
    $isOne = $text === '' ? $answer === '[true,false]' : str_contains($answer, $text);
    $isRight = $isRight && $isOne;
    $isOne || print("$what: $answer\n");
}
if ($folder === '') {
    TokenBucket\StandIn\configure(['limits' => '/etc/limits.ini']);
    try {
        TokenBucket\limiter('bucket', $client);
        $isRight = false;
    } catch (TokenBucket\ConfigurationException $e) {
        $isRight = $isRight && str_ends_with($e->getMessage(), '/etc/limits.ini: open_basedir does not allow it');
    }
}
try {
    TokenBucket::per(null, 'x', 0, 60);
    $isRight = false;
} catch (ValueError) {
}
exit($isRight ? 0 : 1);
