--TEST--
php-fpm: examples/login.php accepts ten attempts and denies the rest with the time to wait
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

function post(string $address, string $password, float $time): string
{
    global $fpm;
    $answer = $fpm->request('www', 'login.php', [], http_build_query(['password' => $password]), [
        'REQUEST_METHOD' => 'POST',
        'CONTENT_TYPE' => 'application/x-www-form-urlencoded',
        'REMOTE_ADDR' => $address,
        'TIME' => (string) $time,
    ]);
    $retry_after = $answer->headers['retry-after'] ?? null;
    preg_match('~<p>(.*)</p>~', $answer->body, $message);
    return "$answer->status $message[1]" . ($retry_after === null ? '' : " Retry-After: $retry_after");
}

$form = $fpm->request('www', 'login.php', params: ['REMOTE_ADDR' => '192.0.2.1', 'TIME' => '1000']);
echo 'GET: ', $form->status, "\n";
preg_match_all('~<form method="post">|<input type="password" name="password"|<button>~', $form->body, $parts);
echo implode("\n", $parts[0]), "\n";

for ($i = 1; $i <= 9; $i++) {
    echo $i, ': ', post('192.0.2.1', 'guess', 1000), "\n";
}
echo '10: ', post('192.0.2.1', 'secret', 1000), "\n";
echo '11, though it is the password: ', post('192.0.2.1', 'secret', 1000), "\n";
echo 'another address: ', post('192.0.2.2', 'secret', 1000), "\n";
echo 'half a second later: ', post('192.0.2.1', 'secret', 1000.5), "\n";
echo 'when it may: ', post('192.0.2.1', 'secret', 1001), "\n";
echo 'and once more: ', post('192.0.2.1', 'secret', 1001), "\n";
?>
--EXPECTF--
GET: 200
<form method="post">
<input type="password" name="password"
<button>
1: 403 %s
2: 403 %s
3: 403 %s
4: 403 %s
5: 403 %s
6: 403 %s
7: 403 %s
8: 403 %s
9: 403 %s
10: 200 Welcome.
11, though it is the password: 429 %s Retry-After: 1
another address: 200 Welcome.
half a second later: 429 %s Retry-After: 1
when it may: 200 Welcome.
and once more: 429 %s Retry-After: 1
