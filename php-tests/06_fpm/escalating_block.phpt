--TEST--
php-fpm: examples/escalating_block.php blocks a user at a network, and a network, for longer each time, and attempts during a block do not count
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

/** How long the nth block of a day is, in seconds. No answer tells: it would tell which limit denied, too. */
function length(int $nth): int
{
    return 300 * 2 ** (min($nth, 8) - 1);
}

echo 'only failures count: ', posts(50, '192.0.2.1', 'joe', 'secret', 1000), "\n";

// A user at a network: each block lasts until its end, whatever was tried meanwhile. From the fortieth failure of a day each further one blocks.
$time = 1000;
foreach (range(1, 9) as $nth) {
    echo "block $nth of a user: ", posts(7, '192.0.2.1', 'ann', 'guess', $time), ' ';
    $seconds = length($nth);
    $during = array_map(fn (int $i) => post('192.0.2.1', 'ann', 'guess', $time + $seconds * $i / 20), range(1, 19));
    $during[] = post('192.0.2.1', 'ann', 'guess', $time + $seconds - 1);
    echo json_encode(array_count_values($during)), ", another user: ", post('192.0.2.1', 'joe', 'secret', $time), "; $seconds s\n";
    $time += $seconds;
}
echo 'a day later: ', posts(7, '192.0.2.1', 'ann', 'guess', $time + 100_000), "\n";

// A network: each user has fewer than five failures.
$time = 200_000;
foreach (range(1, 9) as $nth) {
    $answers = array_map(fn (int $i) => post('192.0.2.2', "user$nth-" . intdiv($i, 4), 'guess', $time), range(0, 31));
    $seconds = length($nth);
    echo "block $nth of a network: ", json_encode(array_count_values($answers)), ', a second before its end: ', post('192.0.2.2', 'eve', 'guess', $time + $seconds - 1), "\n";
    $time += $seconds;
}

// The right password forgives the failures of its user there, and none of the network's.
foreach (range(1, 3) as $i) {
    posts(4, '192.0.2.3', 'joe', 'guess', 400_000 + 300 * $i);
    echo post('192.0.2.3', 'joe', 'secret', 400_000 + 300 * $i), ' ';
}
echo "\n";

// Guesses at the same time: each has a number of its own.
$sent = array_map(fn (int $i) => send('192.0.2.4', 'ann', 'guess', 400_000), range(1, 60));
$statuses = array_map(fn ($connection) => FastCgi::receive($connection)->status, $sent);
echo 'at the same time: ', json_encode(array_count_values($statuses)), ', then ', posts(1, '192.0.2.4', 'ann', 'guess', 400_299), posts(1, '192.0.2.4', 'ann', 'guess', 400_300), "\n";
?>
--EXPECT--
only failures count: {"200":50}
block 1 of a user: {"403":5,"429 for 300 s":2} {"429 for 300 s":20}, another user: 200; 300 s
block 2 of a user: {"403":5,"429 for 300 s":2} {"429 for 300 s":20}, another user: 200; 600 s
block 3 of a user: {"403":5,"429 for 300 s":2} {"429 for 300 s":20}, another user: 200; 1200 s
block 4 of a user: {"403":5,"429 for 300 s":2} {"429 for 300 s":20}, another user: 200; 2400 s
block 5 of a user: {"403":5,"429 for 300 s":2} {"429 for 300 s":20}, another user: 200; 4800 s
block 6 of a user: {"403":5,"429 for 300 s":2} {"429 for 300 s":20}, another user: 429 for 300 s; 9600 s
block 7 of a user: {"403":5,"429 for 300 s":2} {"429 for 300 s":20}, another user: 200; 19200 s
block 8 of a user: {"403":5,"429 for 300 s":2} {"429 for 300 s":20}, another user: 200; 38400 s
block 9 of a user: {"403":1,"429 for 300 s":6} {"429 for 300 s":20}, another user: 200; 38400 s
a day later: {"403":5,"429 for 300 s":2}
block 1 of a network: {"403":30,"429 for 300 s":2}, a second before its end: 429 for 300 s
block 2 of a network: {"403":30,"429 for 300 s":2}, a second before its end: 429 for 300 s
block 3 of a network: {"403":30,"429 for 300 s":2}, a second before its end: 429 for 300 s
block 4 of a network: {"403":30,"429 for 300 s":2}, a second before its end: 429 for 300 s
block 5 of a network: {"403":30,"429 for 300 s":2}, a second before its end: 429 for 300 s
block 6 of a network: {"403":30,"429 for 300 s":2}, a second before its end: 429 for 300 s
block 7 of a network: {"403":30,"429 for 300 s":2}, a second before its end: 429 for 300 s
block 8 of a network: {"403":30,"429 for 300 s":2}, a second before its end: 429 for 300 s
block 9 of a network: {"403":1,"429 for 300 s":31}, a second before its end: 429 for 300 s
200 200 200 
at the same time: {"403":5,"429":55}, then {"429 for 300 s":1}{"403":1}
