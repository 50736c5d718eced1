--TEST--
status(): lists what is blocked, of every limit in shared memory, until the block ends or is lifted
--INI--
token_bucket.warn_of_mistakes=0
--FILE--
<?php
use TokenBucket\{CalendarWindow, Compound, FirstOf, FixedWindow, LeakyBucket, SlidingWindow, TestClock};
use function TokenBucket\{limiter, reset_statistics, status};
require dirname(__DIR__) . '/utils.inc';

$file = sys_get_temp_dir() . '/token_bucket-status-blocked.' . (getenv('TB_APART') ? getenv('TB_PARENT') : getmypid());
if (!getenv('TB_APART')) {
    file_put_contents($file, "[login]\nall = network user\n[network]\nlimit = 3\ninterval = 60\n[user]\nalgorithm = sliding_window\nlimit = 1\ninterval = 9\n");
    putenv('TB_PARENT=' . getmypid());
    putenv('TEST_PHP_EXTRA_ARGS=' . getenv('TEST_PHP_EXTRA_ARGS') . " -d token_bucket.limits=$file");
    register_shutdown_function(unlink(...), $file);
}
run_apart(__FILE__);
TestClock::freeze(1e8);

/** What is blocked: the limit's name, the identifier, the algorithm and the seconds. */
function show(): void
{
    foreach (status()['blocked'] as $block) {
        echo '  ', implode(' ', [$block['name'] === '' ? "''" : $block['name'], $block['identifier'] ?? 'null', $block['algorithm'], $block['seconds']]), $block['enforced'] ? '' : ' dry run', "\n";
    }
    echo "--\n";
}
show();

// Every limit, also one without a call.
$limiters = [
    new TokenBucket(null, 'bucket:a'),
    new LeakyBucket(null, 'leaky:b', 1, 1),
    new FixedWindow(null, 'fixed:c', 1, 1),
    new SlidingWindow(null, 'sliding:d', 1, 1, 'named in code'),
    new CalendarWindow('shm:other', 'calendar:e', 1, 'year'),
    new Compound(new FixedWindow(null, 'both', 1, 1), TokenBucket::per(null, '192.0.2.1', 1, 1)),
    new FirstOf(new FixedWindow(null, 'first:f', 1, 1), new SlidingWindow(null, 'second:f', 1, 1)),
    limiter('login', ['127.0.0.77', 'eve']),
];
foreach ($limiters as $nth => $limiter) {
    $limiter->block(3600 - $nth);
}
show();
TestClock::advance(3595);
show();

// The later of two blocks counts. A call changes nothing.
$limiters[0]->block(1);
$limiters[1]->block(100);
times(3, $limiters[1]->consume(...));
show();

// A reset lifts it, and so does the end.
$limiters[1]->reset();
limiter('network', '127.0.0.77')->reset();
$limiters[7]->block(50);
TestClock::advance(10);
show();
$limiters[7]->reset();
show();

// What only this process knows is not listed. A prefix has its own.
(new FixedWindow('array:', 'array:g', 1, 1))->block(60);
ini_set('token_bucket.prefix', 'shop:');
ini_set('token_bucket.enforce', '0');
(new FixedWindow(null, 'shop:h', 1, 1))->block(60);
show();
ini_restore('token_bucket.prefix');
ini_restore('token_bucket.enforce');
show();

// The counts are something else.
(new FixedWindow(null, "odd\0\xff", 1, 1))->block(60);
reset_statistics('*');
echo json_encode(status()['blocked'], JSON_PARTIAL_OUTPUT_ON_ERROR | JSON_INVALID_UTF8_SUBSTITUTE), "\n";
(new FixedWindow(null, "odd\0\xff", 1, 1))->reset();

// Without identifiers.
ini_set('token_bucket.track_identifiers', '0');
(new FixedWindow(null, 'mail:i', 1, 1))->block(60);
(new FixedWindow(null, 'mail:j', 1, 1))->block(70);
show();
ini_restore('token_bucket.track_identifiers');
(new FixedWindow(null, 'mail:j', 1, 1))->reset();
show();
(new FixedWindow(null, 'mail:i', 1, 1))->reset();

// An identifier is cut at 96 bytes; its reset is of the whole one.
[$one, $two] = [new FixedWindow(null, 'long:' . str_repeat('x', 200), 1, 1), new FixedWindow(null, 'long:' . str_repeat('x', 201), 1, 1)];
$one->block(60);
$two->block(61);
echo count(status()['blocked']), ' ', strlen(status()['blocked'][0]['identifier']), "\n";
$two->reset();
echo implode(' ', array_column(status()['blocked'], 'seconds')), "\n";
$one->reset();

// Other processes see it, and one that is killed leaves it.
$code = 'TokenBucket\TestClock::freeze(1e8); (new TokenBucket\SlidingWindow(null, "login:k", 1, 1))->block(1e6); exec("kill -9 " . getmypid());';
exec(escapeshellarg(PHP_BINARY) . ' -n ' . getenv('TEST_PHP_EXTRA_ARGS') . ' -d token_bucket.test_clock=1 -d token_bucket.shm_path=' . ini_get('token_bucket.shm_path') . ' -r ' . escapeshellarg($code) . ' 2>/dev/null');
echo implode(' ', array_column(status()['blocked'], 'identifier')), "\n";
?>
--EXPECT--
--
  bucket bucket:a token_bucket 3600
  leaky leaky:b token_bucket 3599
  fixed fixed:c fixed_window 3598
  named in code sliding:d sliding_window 3597
  calendar calendar:e calendar 3596
  '' 192.0.2.1 token_bucket 3595
  both both fixed_window 3595
  first first:f fixed_window 3594
  second second:f sliding_window 3594
  network network:127.0.0.77 token_bucket 3593
  user user:eve sliding_window 3593
--
  bucket bucket:a token_bucket 5
  leaky leaky:b token_bucket 4
  fixed fixed:c fixed_window 3
  named in code sliding:d sliding_window 2
  calendar calendar:e calendar 1
--
  leaky leaky:b token_bucket 100
  bucket bucket:a token_bucket 5
  fixed fixed:c fixed_window 3
  named in code sliding:d sliding_window 2
  calendar calendar:e calendar 1
--
  network network:127.0.0.77 token_bucket 40
  user user:eve sliding_window 40
--
--
  shop shop:h fixed_window 60 dry run
--
--
[{"name":"odd\u0000\ufffd","identifier":"odd\u0000\ufffd","algorithm":"fixed_window","enforced":true,"seconds":60}]
  mail null fixed_window 70
  mail null fixed_window 60
--
  mail null fixed_window 60
--
2 96
60
login:k
