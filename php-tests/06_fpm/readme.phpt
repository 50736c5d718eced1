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
echo 'one user: ', answers(7, 'login.php', '192.0.2.1', 1000, $guess), "\n";
echo 'a minute later: ', answers(1, 'login.php', '192.0.2.1', 1060, $right), "\n";
echo 'mistyped again: ', answers(6, 'login.php', '192.0.2.1', 1060, $guess), "\n";
echo 'one network: ', json_encode(array_count_values(array_map(fn (int $i): string => answers(1, 'login.php', "2001:db8::$i", 1000, ['user' => "user$i", 'password' => 'guess']), range(1, 35)))), "\n";
?>
--EXPECT--
search: {"200":30,"429 Too many searches. Please wait a moment.":2}
the same /64, two seconds later: {"200":1,"429 Too many searches. Please wait a moment.":1}
only failures count: {"200 Welcome.":50}
one user: {"200 Wrong.":5,"429 Too many attempts. Please wait a moment. 60":2}
a minute later: {"200 Welcome.":1}
mistyped again: {"200 Wrong.":5,"429 Too many attempts. Please wait a moment. 60":1}
one network: {"{\"200 Wrong.\":1}":30,"{\"429 Too many attempts. Please wait a moment. 60\":1}":5}
