--TEST--
php-fpm: examples/login.php looks at five wrong passwords for a user at a network and at thirty for the network; only failures count
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require __DIR__ . '/fpm.inc';

// The page as it is; the time of each request is what the test says.
$fpm = new Fpm(['www' => [
    'php_admin_value[token_bucket.test_clock]' => '1',
    'php_admin_value[auto_prepend_file]' => 'freeze.php',
    'php_admin_value[include_path]' => '.',
]]);
$fpm->script('freeze.php', '<?php TokenBucket\TestClock::freeze((float) $_SERVER["TIME"]);');
$fpm->script('login.php', file_get_contents(dirname(__DIR__, 2) . '/examples/login.php'));

function post(string $address, string $user, string $password, float $time): string
{
    global $fpm;
    $answer = $fpm->request('www', 'login.php', [], http_build_query(['user' => $user, 'password' => $password]), [
        'REQUEST_METHOD' => 'POST',
        'CONTENT_TYPE' => 'application/x-www-form-urlencoded',
        'REMOTE_ADDR' => $address,
        'TIME' => (string) $time,
    ]);
    $retry_after = $answer->headers['retry-after'] ?? null;
    preg_match('~<p>(.*)</p>~', $answer->body, $message);
    return "$answer->status $message[1]" . ($retry_after === null ? '' : " Retry-After: $retry_after");
}

/** @param iterable<string> $answers */
function counted(string $what, iterable $answers): void
{
    echo $what, ': ', json_encode(array_count_values([...$answers])), "\n";
}

$form = $fpm->request('www', 'login.php', params: ['REMOTE_ADDR' => '192.0.2.1', 'TIME' => '1000']);
echo 'GET: ', $form->status, "\n";
preg_match_all('~<form method="post">|<input name="user"|<input type="password" name="password"|<button>~', $form->body, $parts);
echo implode("\n", $parts[0]), "\n";

counted('one user', array_map(fn () => post('192.0.2.1', 'joe', 'guess', 1000), range(1, 12)));
echo 'though it is the password: ', post('192.0.2.1', 'joe', 'secret', 1000), "\n";
echo 'another address: ', post('192.0.2.2', 'joe', 'secret', 1000), "\n";
echo 'when it may: ', post('192.0.2.1', ' JOE', 'secret', 1060), "\n";
counted('the right password forgives', array_map(fn () => post('192.0.2.1', 'joe', 'guess', 1060), range(1, 6)));
counted('only failures count', array_map(fn () => post('192.0.2.3', 'joe', 'secret', 1000), range(1, 40)));
counted('many users, one /64', array_map(fn (int $i) => post("2001:db8::$i", "user$i", 'guess', 1000), range(1, 40)));
counted('an hour of guesses at one user', array_map(fn (int $i) => substr(post('192.0.2.4', 'joe', 'guess', 1000 + 10 * $i), 0, 3), range(1, 360)));
?>
--EXPECT--
GET: 200
<form method="post">
<input name="user"
<input type="password" name="password"
<button>
one user: {"403 There is no such user, or that is not the password.":5,"429 Too many attempts. Please wait a moment. Retry-After: 60":7}
though it is the password: 429 Too many attempts. Please wait a moment. Retry-After: 60
another address: 200 Welcome.
when it may: 200 Welcome.
the right password forgives: {"403 There is no such user, or that is not the password.":5,"429 Too many attempts. Please wait a moment. Retry-After: 60":1}
only failures count: {"200 Welcome.":40}
many users, one /64: {"403 There is no such user, or that is not the password.":30,"429 Too many attempts. Please wait a moment. Retry-After: 60":10}
an hour of guesses at one user: {"403":64,"429":296}
