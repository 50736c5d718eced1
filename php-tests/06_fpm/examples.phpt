--TEST--
The examples: a contact form under php-fpm; a WHOIS service, also behind a balancer
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
$fpm->script('contact_form.php', file_get_contents(dirname(__DIR__, 2) . '/examples/contact_form.php'));

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

echo 'the form: ', posts(7, 'contact_form', '192.0.2.1', 1000, ['message' => 'hello']), "\n";
echo 'just before its end: ', post('contact_form', '192.0.2.1', 1059.5, []), "\n";
echo 'a /64 is one: ', post('contact_form', '2001:db8::1', 1000, []), '; ', json_encode(array_count_values(array_map(
    fn (int $i) => post('contact_form', "2001:db8::$i:1", 1000, []), range(1, 6)))), "\n";
echo 'at its end: ', posts(6, 'contact_form', '192.0.2.1', 1060, []), "\n";

// The service, in processes of its own, and once more behind a balancer.
$extensions = trim((string) getenv('TEST_PHP_EXTRA_ARGS'));
$start = function (string ...$balancers) use ($fpm, $extensions): array {
    $php = escapeshellarg(PHP_BINARY) . " -n $extensions -d token_bucket.shm_path=$fpm->tables -d log_errors=1 -d error_log=$fpm->folder/whois.log";
    $page = escapeshellarg(dirname(__DIR__, 2) . '/examples/whois.php');
    $process = proc_open("exec setpriv --pdeathsig KILL $php $page 127.0.0.1:0 " . implode(' ', $balancers), [1 => ['pipe', 'w']], $pipes);
    preg_match('/127\.0\.0\.1:\d+/', fgets($pipes[1]), $address);
    return [$process, $address[0], $pipes];
};
/** @return resource */
function connect(string $server, string $from)
{
    return stream_socket_client("tcp://$server", timeout: 30, context: stream_context_create(['socket' => ['bindto' => "$from:0"]]));
}
function whois(string $server, string $query, string $from = '127.0.0.3'): string
{
    $client = connect($server, $from);
    @fwrite($client, $query);
    return (string) strtok((string) stream_get_contents($client), "\r\n");
}

[$whois, $server] = $direct = $start();
for ($i = 1; $i <= 11; $i++) {
    $answers[] = whois($server, $i === 2 ? "nothing.example\r\n" : "EXAMPLE.org\r\n", '127.0.0.1');
}
print_r(array_count_values($answers));
// A client that has not sent its query yet keeps no other waiting. On a busy machine its own time may be over by then.
for ($try = 1; $try <= 9; $try++) {
    $slow = connect($server, "127.0.1.$try");
    $quick = whois($server, "example.org\r\n", "127.0.2.$try");
    @fwrite($slow, "example.net\r\n");
    $both = "$quick, " . strtok((string) stream_get_contents($slow), "\r\n");
    if ($both === 'domain: example.org, domain: example.net') {
        break;
    }
}
echo "one that waits and another: $both\n";
proc_terminate($whois, SIGKILL);

[$whois, $server] = $balanced = $start('127.0.0.3');
$v2 = fn (int $command, int $family, string $addresses): string => "\r\n\r\n\0\r\nQUIT\n" . chr($command) . chr($family) . pack('n', strlen($addresses)) . $addresses;
$in = fn (string ...$addresses): string => implode('', array_map(inet_pton(...), $addresses)) . pack('nn', 4321, 43);
foreach ([
    'version 1' => "PROXY TCP4 198.51.100.1 192.0.2.9 4321 43\r\n",
    'version 1, IPv6' => "PROXY TCP6 2001:db8:1::1 2001:db8::9 4321 43\r\n",
    'version 2' => $v2(0x21, 0x11, $in('198.51.100.2', '192.0.2.9')),
    'version 2, IPv6' => $v2(0x21, 0x21, $in('2001:db8:2::1', '2001:db8::9') . 'more'),
] as $what => $header) {
    $answers = array_map(fn (): string => whois($server, "{$header}example.org\r\n"), range(1, 12));
    echo "$what: ", json_encode(array_count_values($answers)), "\n";
}
echo 'another of the /64: ', whois($server, "PROXY TCP6 2001:db8:1::2 2001:db8::9 4321 43\r\nexample.org\r\n"), "\n";
echo 'the balancer itself: ', whois($server, $v2(0x20, 0, '') . "example.org\r\n"), ', ', whois($server, "PROXY UNKNOWN\r\nexample.org\r\n"), "\n";
echo 'without a header: "', whois($server, "example.org\r\n"), '", ', preg_match_all('/whois: 127\.0\.0\.3:\d+: the balancer sent no PROXY header/', file_get_contents("$fpm->folder/whois.log")), " line in the log\n";
// No balancer: its header is a query like any other.
$answers = array_map(fn (int $i): string => whois($server, "PROXY TCP4 198.51.100.$i 192.0.2.9 4321 43\r\n", '127.0.0.2'), range(1, 12));
echo 'a client that writes a header: ', json_encode(array_count_values($answers)), "\n";
proc_terminate($whois, SIGKILL);
?>
--EXPECT--
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
one that waits and another: domain: example.org, domain: example.net
version 1: {"domain: example.org":10,"% Too many queries. Please come back in a minute.":2}
version 1, IPv6: {"domain: example.org":10,"% Too many queries. Please come back in a minute.":2}
version 2: {"domain: example.org":10,"% Too many queries. Please come back in a minute.":2}
version 2, IPv6: {"domain: example.org":10,"% Too many queries. Please come back in a minute.":2}
another of the /64: % Too many queries. Please come back in a minute.
the balancer itself: domain: example.org, domain: example.org
without a header: "", 1 line in the log
a client that writes a header: {"% No match.":10,"% Too many queries. Please come back in a minute.":2}
