<?php

declare(strict_types=1);

// Compares Symfony's rate limiters with those of this package, alternating both in one run: requests per second of a kernel,
// over-admission under eight processes, and guesses at a login form.
// Usage: php bench.php    EXTENSION= names a build. It needs the Debian packages in `packages`, and measures with
// php-apcu, php-redis and redis-server if they are there.

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
    $extension = realpath($extension) ?: exit("There is no $extension: run make build, or name another with EXTENSION=\n");
    // Starts itself again with the directives that it needs.
    $folder = '/dev/shm/token_bucket-symfony-bench.' . bin2hex(random_bytes(4));
    mkdir($folder);
    $directives = "extension = $extension\ntoken_bucket.shm_path = $folder\napc.enable_cli = 1\n";
    mkdir("$folder/ini");
    file_put_contents("$folder/ini/token_bucket.ini", $directives);
    // The colon stands for the folders that PHP looks at anyway. The servers that this starts have these directives, too.
    $variables = ['PHP_INI_SCAN_DIR' => ":$folder/ini", 'BENCH_FOLDER' => $folder, 'APP_FOLDER' => $folder];
    pcntl_exec(PHP_BINARY, [__FILE__], $variables + getenv());
}

require __DIR__ . '/tests/bootstrap.php';

$redis = RedisServer::startIfThereIsOne($folder);
putenv('REDIS_SOCKET=' . ($redis->socket ?? "$folder/none.sock"));
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
