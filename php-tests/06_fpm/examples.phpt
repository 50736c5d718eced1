--TEST--
The examples: a registry's login and a contact form under php-fpm; a WHOIS service
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require __DIR__ . '/fpm.inc';

// The pages as they are; the time of each request is what the test says.
$fpm = new Fpm(['www' => [
    'php_admin_value[token_bucket.test_clock]' => '1',
    'php_admin_value[auto_prepend_file]' => 'freeze.php',
    'php_admin_value[include_path]' => '.',
]]);
$fpm->script('freeze.php', '<?php TokenBucket\TestClock::freeze((float) $_SERVER["TIME"]);');
foreach (['registry_login', 'contact_form'] as $name) {
    $fpm->script("$name.php", file_get_contents(dirname(__DIR__, 2) . "/examples/$name.php"));
}

function post(string $page, string $address, float $time, array $form): string
{
    global $fpm;
    $answer = $fpm->request('www', "$page.php", [], http_build_query($form), [
        'REQUEST_METHOD' => 'POST',
        'CONTENT_TYPE' => 'application/x-www-form-urlencoded',
        'REMOTE_ADDR' => $address,
        'TIME' => (string) $time,
    ]);
    return $answer->status . ' ' . ($answer->headers['retry-after'] ?? '-');
}

/** The answers to the same post, many times: each with how often it came. */
function posts(int $count, string $page, string $address, float $time, array $form): string
{
    $answers = array_map(fn () => post($page, $address, $time, $form), range(1, $count));
    return json_encode(array_count_values($answers));
}

$guess = ['user' => 'joe', 'password' => 'guess'];
$right = ['user' => 'joe', 'password' => 'secret'];
echo 'one user: ', posts(8, 'registry_login', '192.0.2.1', 1000, $guess), "\n";
echo 'from elsewhere: ', post('registry_login', '192.0.2.2', 1000, $right), "\n";
$goes_on = array_map(fn (int $time) => post('registry_login', '192.0.2.1', $time, $right), range(1010, 1600, 10));
echo 'who goes on: ', json_encode(array_count_values($goes_on)), "\n";
echo 'who was silent: ', post('registry_login', '192.0.2.1', 1900, $right), "\n";
$users = array_map(fn (int $i) => post('registry_login', '192.0.2.3', 1000, ['user' => "user$i", 'password' => 'x']), range(1, 40));
echo 'many users: ', json_encode(array_count_values($users)), "\n";

echo 'the form: ', posts(7, 'contact_form', '192.0.2.1', 1000, ['message' => 'hello']), "\n";
echo 'just before its end: ', post('contact_form', '192.0.2.1', 1059.5, []), "\n";
echo 'a /64 is one: ', post('contact_form', '2001:db8::1', 1000, []), '; ', json_encode(array_count_values(array_map(
    fn (int $i) => post('contact_form', "2001:db8::$i:1", 1000, []), range(1, 6)))), "\n";
echo 'at its end: ', posts(6, 'contact_form', '192.0.2.1', 1060, []), "\n";

// The service, in a process of its own.
$whois = proc_open([
    'setpriv', '--pdeathsig', 'KILL', PHP_BINARY, '-n', '-d', 'extension=' . $fpm->folder . '/token_bucket.so',
    '-d', "token_bucket.shm_path=$fpm->tables", dirname(__DIR__, 2) . '/examples/whois.php', '127.0.0.1:0',
], [1 => ['pipe', 'w']], $pipes);
preg_match('/127\.0\.0\.1:\d+/', fgets($pipes[1]), $address);
for ($i = 1; $i <= 11; $i++) {
    $client = stream_socket_client("tcp://$address[0]");
    @fwrite($client, $i === 2 ? "nothing.example\r\n" : "EXAMPLE.org\r\n");
    $answers[] = strtok((string) stream_get_contents($client), "\r\n");
}
print_r(array_count_values($answers));
proc_terminate($whois, SIGKILL);
?>
--EXPECT--
one user: {"403 -":5,"429 300":3}
from elsewhere: 200 -
who goes on: {"429 300":60}
who was silent: 200 -
many users: {"403 -":30,"429 300":10}
the form: {"200 -":5,"429 60":2}
just before its end: 429 1
a /64 is one: 200 -; {"200 -":4,"429 60":2}
at its end: {"200 -":5,"429 60":1}
Array
(
    [domain: example.org] => 9
    [% No match.] => 1
    [% Too many queries. Please come back in a minute.] => 1
)
