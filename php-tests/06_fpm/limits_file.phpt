--TEST--
php-fpm: a changed file of limits is in force in every worker within two seconds, under load, and half a file is not
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require __DIR__ . '/fpm.inc';
require dirname(__DIR__) . '/processes.inc';

// In memory: a disk may keep the writer waiting between two halves for longer than the workers do.
$file = '/dev/shm/token_bucket-limits-' . getmypid() . '.ini';
$main = getmypid();
register_shutdown_function(function () use ($file, $main): void {
    getmypid() === $main && array_map(unlink(...), glob("$file*"));
});

/** A file in which the limit allows this number, and some more lines. */
$text = fn (int $limit): string => "[api]\nlimit = $limit\ninterval = 60\n" . str_repeat("; more\n", 2_000) . "[last]\nlimit = 1\ninterval = 1\n";
file_put_contents($file, $text(1));

$fpm = new Fpm(['www' => ['php_admin_value[token_bucket.limits]' => $file]]);
$fpm->script('limit.php', <<<'CODE'
    <?php
    try {
        $limit = @TokenBucket\limiter('api', 'x')->attempt(0)->getRemainingTokens();
        @TokenBucket\limiter('last', 'x');
    } catch (Throwable $e) {
        $limit = $e->getMessage();
    }
    echo json_encode(['pid' => getmypid(), 'limit' => $limit, 'warning' => error_get_last()['message'] ?? null]);
    CODE);

// Four clients call all the time; a fifth process changes the file.
const SECONDS = 11.5;
$changes = [
    // After so many seconds: how the file changes, and the limit that is in force two seconds later.
    '0.5' => [fn () => rename_over($file, $text(2)), 2],
    '3' => [fn () => file_put_contents($file, $text(3)), 3],
    // Slowly, in place: the second half comes 0.3 s after the first.
    '5.5' => [fn () => write_slowly($file, $text(4)), 4],
    // Cut off: "li" is no key.
    '9' => [fn () => rename_over($file, substr($text(5), 0, -21)), 4],
];

function rename_over(string $file, string $text): void
{
    file_put_contents("$file.new", $text);
    rename("$file.new", $file);
}

function write_slowly(string $file, string $text): void
{
    $stream = fopen($file, 'w');
    foreach (str_split($text, intdiv(strlen($text), 2) + 1) as $part) {
        fwrite($stream, $part);
        fflush($stream);
        usleep(300_000);
    }
}

$results = at_once(5, fn (int $i): callable => function (int $begin) use ($i, $fpm, $changes): array {
    $at = fn (): float => (hrtime(true) - $begin) / 1e9;
    $log = [];
    if ($i === 4) {
        foreach ($changes as $second => [$change]) {
            usleep(max(0, (int) (((float) $second - $at()) * 1e6)));
            $change();
            $log[$second] = $at();
        }
        return $log;
    }
    while (($sent = $at()) < SECONDS) {
        $answer = $fpm->request('www', 'limit.php')->json();
        usleep(1_000);
        $log[] = [$sent, $at(), $answer['pid'], $answer['limit'], $answer['warning']];
    }
    return $log;
});
$changed_at = array_pop($results);
$calls = array_merge(...$results);
echo 'workers: ', count(array_unique(array_column($calls, 2))), ', many calls: ', json_encode(count($calls) > 1_000), "\n";
echo 'calls that failed: ', json_encode(array_values(array_unique(array_filter(array_column($calls, 3), is_string(...))))), "\n";

$in_force = 1;
foreach ($changes as $second => [, $next]) {
    $before = $in_force;
    // Between this change and the next one a worker has either the old limit or the new one; two seconds later the new one.
    $until = min(array_filter($changed_at, fn (float $time) => $time > $changed_at[$second]) ?: [INF]);
    $seen = array_filter($calls, fn (array $call) => $call[0] >= $changed_at[$second] && $call[1] < $until);
    // A machine that is busy with other tests stands still now and then, the longest call tells for how long.
    $stall = max(array_map(fn (array $call): float => $call[1] - $call[0], $seen) ?: [0.0]);
    $late = array_filter($seen, fn (array $call) => $call[0] >= $changed_at[$second] + 2.0 + $stall);
    $limits = fn (array $calls): string => json_encode(array_values(array_unique(array_column($calls, 3))));
    $allowed = array_unique([$before, $next]);
    echo "from $before to $next: ", array_diff(array_unique(array_column($seen, 3)), $allowed) === [] ? 'no other limit' : $limits($seen),
        $late === [] ? '' : ', after two seconds ' . $limits($late), "\n";
    $in_force = $next;
}
$warnings = array_filter(array_column($calls, 4));
echo 'warnings: ', count($warnings), ' of ', count(array_unique(array_column($calls, 2))), " workers\n";
echo str_replace($file, 'FILE', implode("\n", array_unique($warnings))), "\n";
?>
--EXPECT--
workers: 4, many calls: true
calls that failed: []
from 1 to 2: no other limit, after two seconds [2]
from 2 to 3: no other limit, after two seconds [3]
from 3 to 4: no other limit, after two seconds [4]
from 4 to 4: no other limit, after two seconds [4]
warnings: 4 of 4 workers
TokenBucket\limiter(): token_bucket.limits: FILE: line 2005: "li" is unknown: a key must be algorithm, limit, interval, unit, timezone, lifetime, storage, on_error, enforce, leave, except, clients, like, all or first; the limits that were read before stay in force
