<?php

/*
 * Laravel's own limiter and this package's, in one run, taken by turns: requests per second of the kernel, and how many of
 * eight processes' requests pass a limit of 100.
 *
 *     EXTENSION=/path/to/token_bucket.so php integrations/laravel/bench.php [ROUNDS]
 */

declare(strict_types=1);

use Illuminate\Contracts\Http\Kernel;
use Illuminate\Foundation\Application;
use Illuminate\Http\Request;

const PROCESSES = 8;
const REQUESTS_OF_A_PROCESS = 100;
const LIMIT = 100;
const SECONDS_OF_A_TURN = 0.5;

$application = getenv('TB_LARAVEL_APP');
if ($application === false) {
    passthru(implode(' ', array_map('escapeshellarg', [__DIR__ . '/scripts/in-application.sh', PHP_BINARY, __FILE__, ...array_slice($argv, 1)])), $status);
    exit($status);
}

/** Handles requests in this process's kernel. Returns how many were answered with 200. */
function handle(Kernel $kernel, string $path, int $requests): int
{
    $passed = 0;
    for ($i = 0; $i < $requests; $i++) {
        $request = Request::create($path);
        $response = $kernel->handle($request);
        $kernel->terminate($request, $response);
        $passed += $response->getStatusCode() === 200 ? 1 : 0;
    }

    return $passed;
}

function measure(Kernel $kernel, string $path): float
{
    handle($kernel, $path, 50);
    $begin = hrtime(true);
    $handled = 0;
    do {
        $passed = handle($kernel, $path, 50);
        if ($passed !== 50) {
            throw new RuntimeException("$path denied a request");
        }
        $handled += $passed;
        $seconds = (hrtime(true) - $begin) / 1e9;
    } while ($seconds < SECONDS_OF_A_TURN);

    return $handled / $seconds;
}

/** A process of the benchmark: bench.php --measure|--attack PATH. The attack begins when its standard input says so. */
if (in_array($argv[1] ?? '', ['--measure', '--attack'], true)) {
    $kernel = (require "$application/bootstrap/app.php")->make(Kernel::class);
    if ($argv[1] === '--measure') {
        echo measure($kernel, $argv[2]);
    } else {
        handle($kernel, '/free', 3);
        echo "ready\n";
        fgets(STDIN);
        echo handle($kernel, $argv[2], REQUESTS_OF_A_PROCESS);
    }
    exit;
}

/**
 * @param array<string, string> $environment
 * @return array{0: resource, 1: array<int, resource>}
 */
function begin(string $mode, string $path, array $environment): array
{
    $process = proc_open([PHP_BINARY, __FILE__, $mode, $path], [['pipe', 'r'], ['pipe', 'w'], STDERR], $pipes, null, $environment + getenv());
    if ($process === false) {
        throw new RuntimeException('PHP could not be started');
    }

    return [$process, $pipes];
}

/** @param array<string, string> $environment */
function requestsPerSecond(string $path, array $environment): float
{
    [$process, $pipes] = begin('--measure', $path, $environment);
    $result = (float) stream_get_contents($pipes[1]);
    if (proc_close($process) !== 0) {
        throw new RuntimeException("The measurement of $path failed");
    }

    return $result;
}

/** @param array<string, string> $environment */
function passed(string $path, array $environment): int
{
    $processes = [];
    for ($i = 0; $i < PROCESSES; $i++) {
        $processes[] = begin('--attack', $path, $environment);
    }
    foreach ($processes as [, $pipes]) {
        fgets($pipes[1]);
    }
    foreach ($processes as [, $pipes]) {
        fwrite($pipes[0], "go\n");
    }
    $passed = 0;
    foreach ($processes as [$process, $pipes]) {
        $passed += (int) stream_get_contents($pipes[1]);
        proc_close($process);
    }

    return $passed;
}

/** A copy of the application in which Laravel does not discover the package, so that its own limiter is at work. */
function withoutPackage(string $application): string
{
    $copy = dirname($application) . '/own';
    exec('cp -R ' . escapeshellarg($application) . ' ' . escapeshellarg($copy));
    array_map('unlink', glob("$copy/bootstrap/cache/*.php") ?: []);
    $composer = json_decode((string) file_get_contents("$copy/composer.json"), true);
    $composer['extra']['laravel']['dont-discover'] = ['*'];
    file_put_contents("$copy/composer.json", json_encode($composer));

    return $copy;
}

/** @param non-empty-list<float> $numbers */
function median(array $numbers): float
{
    sort($numbers);

    return $numbers[intdiv(count($numbers), 2)];
}

$rounds = max(1, (int) ($argv[1] ?? 7));
$own = withoutPackage($application);
$redis = 'redis+unix://' . (string) getenv('REDIS_SOCKET') . '?timeout_ms=2000';
$variants = [
    'no limit' => ['/free', ['TB_LARAVEL_APP' => $own]],
    "Laravel's own, cache store file" => ['/many', ['TB_LARAVEL_APP' => $own, 'CACHE' => 'file']],
    'token_bucket, shared memory' => ['/many', []],
    "Laravel's own, cache store redis" => ['/many', ['TB_LARAVEL_APP' => $own, 'CACHE' => 'redis']],
    'token_bucket, redis' => ['/many', ['TOKEN_BUCKET_STORAGE' => $redis]],
];

$speeds = [];
$passes = [];
for ($round = 0; $round < $rounds; $round++) {
    foreach ($variants as $name => [$path, $environment]) {
        $speeds[$name][] = requestsPerSecond($path, $environment);
        if ($path !== '/free') {
            // A client of its own for each round, so that no round sees the hits of another.
            $passes[$name][] = passed("/hundred?client=$round", $environment);
        }
    }
}

require_once "$application/bootstrap/app.php";
printf("Laravel %s, PHP %s, %d rounds by turns\n", Application::VERSION, PHP_VERSION, $rounds);
printf("%-34s %12s  %s\n", '', 'requests/s', 'passed of ' . PROCESSES * REQUESTS_OF_A_PROCESS . ', limit ' . LIMIT);
foreach ($variants as $name => $variant) {
    printf("%-34s %12.0f  %s\n", $name, median($speeds[$name]), implode(' ', $passes[$name] ?? []));
}
