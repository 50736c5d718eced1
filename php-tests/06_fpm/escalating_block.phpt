--TEST--
php-fpm: examples/escalating_block.php blocks for longer each time, and attempts during a block do not count
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require __DIR__ . '/fpm.inc';

$fpm = new Fpm(['www' => [
    'php_admin_value[token_bucket.test_clock]' => '1',
    'php_admin_value[auto_prepend_file]' => 'freeze.php',
    'php_admin_value[include_path]' => '.',
]]);
$fpm->script('freeze.php', '<?php TokenBucket\TestClock::freeze((float) $_SERVER["TIME"]);');
$fpm->script('page.php', file_get_contents(dirname(__DIR__, 2) . '/examples/escalating_block.php'));

/** @return resource */
function send(string $address, string $user, string $password, float $time)
{
    global $fpm;
    return $fpm->send('www', 'page.php', [], http_build_query(['user' => $user, 'password' => $password]), [
        'REQUEST_METHOD' => 'POST',
        'CONTENT_TYPE' => 'application/x-www-form-urlencoded',
        'REMOTE_ADDR' => $address,
        'TIME' => (string) $time,
    ]);
}

function post(string $address, string $user, string $password, float $time): string
{
    $answer = FastCgi::receive(send($address, $user, $password, $time));
    return $answer->status . (isset($answer->headers['retry-after']) ? " for {$answer->headers['retry-after']} s" : '');
}

/** The answers to the same post, many times: each with how often it came. */
function posts(int $count, string $address, string $user, string $password, float $time): string
{
    $answers = array_map(fn () => post($address, $user, $password, $time), range(1, $count));
    return json_encode(array_count_values($answers));
}

echo 'only failures count: ', posts(50, '192.0.2.1', 'joe', 'secret', 1000), "\n";

// Each block ends when it says, whatever was tried meanwhile. From the eightieth failure of a day each further one blocks.
$time = 1000;
foreach (range(1, 10) as $nth) {
    echo "block $nth: ", posts(12, '192.0.2.1', "user$nth", 'guess', $time), ' ';
    preg_match('/for (\d+) s/', post('192.0.2.1', 'joe', 'secret', $time), $seconds);
    $blocked = array_map(fn (int $i) => substr(post('192.0.2.1', 'joe', 'secret', $time + $seconds[1] * $i / 20), 0, 3), range(1, 19));
    $time += $seconds[1];
    echo json_encode(array_count_values($blocked)), ', then ', post('192.0.2.1', 'joe', 'secret', $time), "\n";
}
echo 'a day later: ', posts(12, '192.0.2.1', 'ann', 'guess', $time + 100_000), "\n";

// Guesses at the same time: each has a number of its own, so at most two blocks come of twenty tokens.
$sent = array_map(fn (int $i) => send('192.0.2.2', "user$i", 'guess', 400_000), range(1, 60));
$statuses = array_map(fn ($connection) => FastCgi::receive($connection)->status, $sent);
$counts = array_count_values($statuses);
echo 'at the same time: ', $counts[403] >= 10 && $counts[403] <= 20 ? '10 to 20' : $counts[403], ' guesses, ', post('192.0.2.2', 'joe', 'secret', 400_600), "\n";

// The account's own limit blocks no network.
foreach (range(1, 25) as $i) {
    posts(4, "198.51.100.$i", 'joe', 'guess', 500_000);
}
echo 'an account under attack: ', post('192.0.2.3', 'joe', 'secret', 500_000), '; other users: ', post('198.51.100.1', 'ann', 'guess', 500_000), "\n";
?>
--EXPECT--
only failures count: {"200":50}
block 1: {"403":10,"429 for 300 s":2} {"429":19}, then 200
block 2: {"403":10,"429 for 600 s":2} {"429":19}, then 200
block 3: {"403":10,"429 for 1200 s":2} {"429":19}, then 200
block 4: {"403":10,"429 for 2400 s":2} {"429":19}, then 200
block 5: {"403":10,"429 for 4800 s":2} {"429":19}, then 200
block 6: {"403":10,"429 for 9600 s":2} {"429":19}, then 200
block 7: {"403":10,"429 for 19200 s":2} {"429":19}, then 200
block 8: {"403":10,"429 for 38400 s":2} {"429":19}, then 200
block 9: {"403":1,"429 for 38400 s":11} {"429":19}, then 200
block 10: {"403":10,"429 for 300 s":2} {"429":19}, then 200
a day later: {"403":10,"429 for 300 s":2}
at the same time: 10 to 20 guesses, 200
an account under attack: 429 for 36 s; other users: 403
