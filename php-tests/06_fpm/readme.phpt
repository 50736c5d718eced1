--TEST--
php-fpm: the examples of README.md, as they are
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require __DIR__ . '/fpm.inc';

preg_match_all('/^```php\n(.*?)^```/ms', file_get_contents(dirname(__DIR__, 2) . '/README.md'), $examples);
[$search, $login] = $examples[1];
$network = strtok($search, "\n");

$fpm = new Fpm(['www' => [
    'php_admin_value[token_bucket.test_clock]' => '1',
    'php_admin_value[auto_prepend_file]' => 'freeze.php',
    'php_admin_value[include_path]' => '.',
]]);
$fpm->script('freeze.php', '<?php declare(strict_types=1); TokenBucket\TestClock::freeze((float) $_SERVER["TIME"]);');
$fpm->script('search.php', "<?php declare(strict_types=1);\n$search");
$fpm->script('login.php', "<?php declare(strict_types=1);\n$network
['user' => \$user, 'password' => \$password] = \$_GET;
\$hash = password_hash('secret', PASSWORD_BCRYPT, ['cost' => 4]);\n$login
echo \$password === 'secret' ? 'Welcome.' : 'Wrong.';");

/** The answers to the same request, many times: each with how often it came. */
function answers(int $count, string $page, string $address, float $time, array $get = []): string
{
    global $fpm;
    $answers = array_map(function () use ($fpm, $page, $address, $time, $get): string {
        $answer = $fpm->request('www', $page, $get, params: ['REMOTE_ADDR' => $address, 'TIME' => (string) $time]);
        return trim("$answer->status $answer->body " . ($answer->headers['retry-after'] ?? ''));
    }, range(1, $count));
    return json_encode(array_count_values($answers));
}

$guess = ['user' => 'joe', 'password' => 'guess'];
$right = ['user' => 'joe', 'password' => 'secret'];
echo 'search: ', answers(32, 'search.php', '2001:db8::1', 1000), "\n";
echo 'the same /64, two seconds later: ', answers(2, 'search.php', '2001:db8::2', 1002), "\n";
echo 'only failures count: ', answers(50, 'login.php', '192.0.2.1', 1000, $right), "\n";
echo 'the first block: ', answers(12, 'login.php', '192.0.2.1', 1000, $guess), "\n";
echo 'within it: ', answers(30, 'login.php', '192.0.2.1', 1299, $right), "\n";
echo 'the second block: ', answers(12, 'login.php', '192.0.2.1', 1300, $guess), "\n";
echo 'after it: ', answers(1, 'login.php', '192.0.2.1', 1900, $right), "\n";
foreach (range(1, 20) as $i) {
    answers(5, 'login.php', "198.51.100.$i", 50_000, $guess);
}
echo 'an account under attack: ', answers(1, 'login.php', '192.0.2.2', 50_000, $right), "\n";
echo 'another one: ', answers(1, 'login.php', '198.51.100.1', 50_000, ['user' => 'ann'] + $right), "\n";
?>
--EXPECT--
search: {"200":30,"429 Too many searches. Please wait a moment.":2}
the same /64, two seconds later: {"200":1,"429 Too many searches. Please wait a moment.":1}
only failures count: {"200 Welcome.":50}
the first block: {"200 Wrong.":10,"429 Too many attempts. Please wait a moment. 300":2}
within it: {"429 Too many attempts. Please wait a moment. 1":30}
the second block: {"200 Wrong.":10,"429 Too many attempts. Please wait a moment. 600":2}
after it: {"200 Welcome.":1}
an account under attack: {"429 Too many attempts. Please wait a moment. 36":1}
another one: {"200 Welcome.":1}
