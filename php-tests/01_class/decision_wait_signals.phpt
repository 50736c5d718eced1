--TEST--
Decision: wait() ends at a signal whose handler throws or exits, and goes on after any other; it works without usleep(), too
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
use TokenBucket\ArrayStorage;
require __DIR__ . '/../utils.inc';

/** A reservation that is due after some seconds. */
$reserve = function (int $seconds): TokenBucket\Decision {
    $bucket = TokenBucket::per(new ArrayStorage, 'x', 1, $seconds);
    $bucket->consume();
    return $bucket->reserve();
};
pcntl_async_signals(true);
pcntl_signal(SIGALRM, fn () => throw new Exception('stopped'));
$begin = hrtime(true);
pcntl_alarm(1);
try {
    $reserve(200)->wait();
    echo "wrong\n";
} catch (Exception $e) {
    echo $e->getMessage(), hrtime(true) - $begin < 100e9 ? " at once\n" : " late\n";
}
// The handler runs while the call waits, which then goes on.
$at = null;
pcntl_signal(SIGALRM, function () use (&$at) { $at = hrtime(true); });
$begin = hrtime(true);
pcntl_alarm(1);
echo json_encode($reserve(3)->wait()), ' ', json_encode([hrtime(true) - $begin > 2.9e9, $at !== null && $at < hrtime(true) - 0.5e9]), "\n";

$php = escapeshellarg(PHP_BINARY) . ' -n ' . getenv('TEST_PHP_EXTRA_ARGS');
$code = '$begin = hrtime(true); $b = TokenBucket::per("array:", "x", 1, 1); $b->consume(); echo json_encode($b->reserve()->wait()), hrtime(true) - $begin > 0.99e9 ? "" : " early";';
echo shell_exec("$php -d disable_functions=usleep -r " . escapeshellarg($code)), "\n";
// exit() in a handler, and the time limit where the engine counts the time of day.
$code = 'pcntl_async_signals(true); pcntl_signal(SIGALRM, fn () => exit("exits\n")); pcntl_alarm(1);
    $b = TokenBucket::per("array:", "x", 1, 200); $b->consume(); $b->reserve()->wait(); echo "wrong";';
echo shell_exec("$php -r " . escapeshellarg($code));
if (PHP_ZTS && ini_get('max_execution_time') !== false) {
    $code = 'set_time_limit(1); sleep(3); echo "late ";';
    $is_wall_clock = str_contains(shell_exec("$php -r " . escapeshellarg($code)), 'Maximum execution time');
    $code = '$b = TokenBucket::per("array:", "x", 1, 100); $b->consume(); $r = $b->reserve(); set_time_limit(1); $r->wait(); echo "waited";';
    $begin = hrtime(true);
    $ended = !$is_wall_clock || str_contains(shell_exec("$php -r " . escapeshellarg($code)), 'Maximum execution time') && hrtime(true) - $begin < 60e9;
    echo $ended ? '' : "wait() sleeps past the time limit\n";
}
?>
--EXPECT--
stopped at once
true [true,true]
true
exits
