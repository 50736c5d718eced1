<?php

/*
 * What a decision costs: the stand-in, and symfony/rate-limiter with its lock and its cache in files, in the same folder, each at 1 client
 * and at 10,000. Prints microseconds, the median of nine rounds.
 * Usage: php bench.php [CALLS]    EXTENSION= adds the extension; it needs Debian's php-symfony-rate-limiter, -lock and -cache
 */

declare(strict_types=1);

use Symfony\Component\Cache\Adapter\FilesystemAdapter;
use Symfony\Component\Lock\LockFactory;
use Symfony\Component\Lock\Store\FlockStore;
use Symfony\Component\RateLimiter\RateLimiterFactory;
use Symfony\Component\RateLimiter\Storage\CacheStorage;

$calls = (int) ($argv[1] ?? 2_000);
if (($argv[2] ?? '') === '') {
    $folder = '/dev/shm/token_bucket-bench-stand-in.' . getmypid();
    mkdir($folder);
    $php = escapeshellarg(PHP_BINARY) . " -d opcache.enable_cli=1 -d token_bucket.shm_path=$folder -d error_log=/dev/null";
    $extension = getenv('EXTENSION');
    foreach (['stand-in' => $php, 'symfony' => $php] + ($extension ? ['extension' => "$php -d extension=$extension"] : []) as $subject => $command) {
        passthru("$command " . escapeshellarg(__FILE__) . " $calls $subject $folder");
    }
    exec('rm -rf ' . escapeshellarg($folder));
    exit;
}
[, , $subject, $folder] = $argv;
if ($subject === 'symfony') {
    require '/usr/share/php/Symfony/Component/RateLimiter/autoload.php';
    require '/usr/share/php/Symfony/Component/Lock/autoload.php';
    require '/usr/share/php/Symfony/Component/Cache/autoload.php';
    $factory = new RateLimiterFactory(
        ['id' => 'bench', 'policy' => 'token_bucket', 'limit' => 2_000_000_000, 'rate' => ['interval' => '1 second', 'amount' => 1_000_000]],
        new CacheStorage(new FilesystemAdapter('bench', 0, "$folder/symfony")),
        new LockFactory(new FlockStore($folder)),
    );
    $decide = static fn (string $client): bool => $factory->create($client)->consume()->isAccepted();
} else {
    require_once __DIR__ . '/stand-in.php';
    $decide = static fn (string $client): bool => (new TokenBucket(null, "bench:$client", 2_000_000_000, 1e6))->consume();
}
foreach ([1, 10_000] as $clients) {
    for ($i = 0; $i < $clients; $i++) {
        $decide("$i") || exit("denied\n");
    }
    $rounds = [];
    for ($round = 0; $round < 9; $round++) {
        $begun = hrtime(true);
        for ($i = 0; $i < $calls; $i++) {
            $decide((string) ($i * 7 % $clients));
        }
        $rounds[] = (hrtime(true) - $begun) / $calls / 1_000;
    }
    sort($rounds);
    printf("%-10s %6d clients  %7.1f µs a decision\n", $subject, $clients, $rounds[4]);
}
