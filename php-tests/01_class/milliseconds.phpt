--TEST--
Seconds that are probably milliseconds give one warning in a process: of an interval, a window, a block, a permit's lifetime
--FILE--
<?php
/* Each runs in a PHP of its own, for a process warns once. */
function run(string $title, string $code, string $options = ''): void
{
    $php = escapeshellarg(PHP_BINARY) . ' -n -d display_errors=1 -d log_errors=0 -d html_errors=0 ' . getenv('TEST_PHP_EXTRA_ARGS');
    $code = 'use TokenBucket\{Compound, ConcurrencyLimit, FixedWindow, LeakyBucket, SlidingWindow}; ' . $code;
    echo "$title:", preg_replace('/ in (?:Command line code|\S+stand-in\S+\.php) on line (\d+)/', '', rtrim((string) shell_exec("$php $options -r " . escapeshellarg($code)))), "\n";
}

run('per()', 'TokenBucket::per("array:", "x", 5, 60000);');
run('a leaky bucket', 'new LeakyBucket("array:", "x", 5, 300000);');
run('a fixed window', 'new FixedWindow("array:", "x", 5, 30000);');
run('a sliding window', 'new SlidingWindow("array:", "x", 5, 3600000);');
run('check()', '(new TokenBucket("array:", "x"))->check("y", 5, 86400000);');
run('block()', 'TokenBucket::per("array:", "x", 5, 60)->block(900000);');
run('a block of several', '(new Compound(TokenBucket::per("array:", "x", 5, 60)))->block(900000);');
run('a lifetime', 'new ConcurrencyLimit("array:", "x", 5, 90000);');
run('once', 'for ($i = 0; $i < 3; $i++) { $limit = TokenBucket::per("array:", "x", 5, 60000); } $limit->block(60000); var_dump($limit->consume());');

$meant = <<<'CODE'
    foreach ([0.5, 60, 300, 900, 3_600, 10_000, 10.5 * 3_600, 86_400, 5 * 86_400, 604_800, 25 * 86_400, 30 * 86_400, 100 * 86_400, 365 * 86_400, 31_557_600, 60_000.5] as $seconds) {
        $limit = TokenBucket::per('array:', 'x', 5, $seconds);
        $limit->block($seconds);
        $limit->check('y', 5, $seconds);
    }
    for ($seconds = 300; $seconds < 1e8; $seconds *= 2) {
        $limit->block($seconds);
    }
    try {
        TokenBucket::per('array:', 'x', 0, 60_000);
    } catch (ValueError) {
    }
    CODE;
run('times that are meant', $meant);
run('switched off', 'TokenBucket::per("array:", "x", 5, 60000);', '-d token_bucket.warn_of_mistakes=0');
?>
--EXPECT--
per():
Warning: TokenBucket::per(): $interval is in seconds, and 60000 are 16.7 hours; if milliseconds were meant, write 60
a leaky bucket:
Warning: TokenBucket\LeakyBucket::__construct(): $interval is in seconds, and 300000 are 3.5 days; if milliseconds were meant, write 300
a fixed window:
Warning: TokenBucket\FixedWindow::__construct(): $interval is in seconds, and 30000 are 8.3 hours; if milliseconds were meant, write 30
a sliding window:
Warning: TokenBucket\SlidingWindow::__construct(): $interval is in seconds, and 3600000 are 41.7 days; if milliseconds were meant, write 3600
check():
Warning: TokenBucket::check(): $window is in seconds, and 86400000 are 1000.0 days; if milliseconds were meant, write 86400
block():
Warning: TokenBucket::block(): $seconds is in seconds, and 900000 are 10.4 days; if milliseconds were meant, write 900
a block of several:
Warning: TokenBucket\Compound::block(): $seconds is in seconds, and 900000 are 10.4 days; if milliseconds were meant, write 900
a lifetime:
Warning: TokenBucket\ConcurrencyLimit::__construct(): $lifetime is in seconds, and 90000 are 25.0 hours; if milliseconds were meant, write 90
once:
Warning: TokenBucket::per(): $interval is in seconds, and 60000 are 16.7 hours; if milliseconds were meant, write 60
bool(false)
times that are meant:
switched off:
