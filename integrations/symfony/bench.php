<?php

declare(strict_types=1);

// Compares Symfony's rate limiters with those of this package, alternating both in one run: requests per second of a kernel,
// over-admission under eight processes, and guesses at a login form.
// Usage: php bench.php    EXTENSION= names a build. It needs the Debian packages in `packages`, php-apcu, and for Redis
// php-redis and redis-server.

use Symfony\Component\Filesystem\Filesystem;
use Symfony\Component\HttpKernel\Kernel;
use TokenBucket\Symfony\Tests\bench\KernelSpeed;
use TokenBucket\Symfony\Tests\bench\LoginGuesses;
use TokenBucket\Symfony\Tests\bench\OverAdmission;
use TokenBucket\Symfony\Tests\bench\RedisServer;
use TokenBucket\Symfony\Tests\bench\Variant;

$extension = getenv('EXTENSION') ?: dirname(__DIR__, 2) . '/target/release/libtoken_bucket.so';
$folder = getenv('BENCH_FOLDER');
if ($folder === false) {
    // Starts itself again with the directives that it needs.
    $folder = '/dev/shm/token_bucket-symfony-bench.' . bin2hex(random_bytes(4));
    mkdir($folder);
    $directives = ["extension=$extension", "token_bucket.shm_path=$folder", 'apc.enable_cli=1'];
    $options = array_merge(...array_map(static fn (string $directive): array => ['-d', $directive], $directives));
    $variables = ['EXTENSION' => $extension, 'BENCH_FOLDER' => $folder, 'APP_FOLDER' => $folder, 'TABLES' => $folder, 'SERVERS' => "$folder/servers"];
    pcntl_exec(PHP_BINARY, [...$options, __FILE__], $variables + getenv());
}

require __DIR__ . '/autoload-debian.php';

$redis = RedisServer::startIfThereIsOne($folder);
putenv('REDIS_SOCKET=' . ($redis?->socket ?? "$folder/none.sock"));
register_shutdown_function(static function () use ($redis, $folder): void {
    $redis?->stop();
    (new Filesystem())->remove($folder);
});
pcntl_async_signals(true);
foreach ([SIGINT, SIGTERM] as $signal) {
    pcntl_signal($signal, static fn () => exit(130));
}

printf("PHP %s, Symfony %s, token_bucket %s\n", PHP_VERSION, Kernel::VERSION, phpversion('token_bucket'));
$variants = Variant::all($redis?->socket);
KernelSpeed::print($variants);
OverAdmission::print($variants);
LoginGuesses::print();
