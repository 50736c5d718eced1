<?php
declare(strict_types=1);

/* Formats that the reader was not written for: places that agree are one, places that disagree are a question, and the whole log checks the answer. */

require __DIR__ . '/harness.inc';

$common = static fn (int $time): string => gmdate('d/M/Y:H:i:s +0000', $time);
$iso = static fn (int $time, string $fraction = ''): string => gmdate('Y-m-d\TH:i:s', $time) . "{$fraction}Z";
$json = static fn (array $fields): string => json_encode($fields, JSON_UNESCAPED_SLASHES);
$line = static fn (string $ip, int $time): string => rtrim(combined($ip, $time));

/** 120 logins of 30 clients within two minutes, by turns, through some of seven edges of a CDN. */
function clients(callable $format): string
{
    $lines = '';
    for ($number = 0; $number < 120; $number++) {
        $lines .= $format('203.0.113.' . ($number % 30 + 1), TIME + $number, '172.71.' . $number % 7 . '.3', $number) . "\n";
    }
    return $lines;
}

/** @return array{code: int, out: string, err: string} */
function found(string $log, string ...$options): array
{
    return command(['find-limit', '--json', write_file('access.log', $log), '--match', 'POST /login', '--rates', '1/min', '--deny-share', '0', ...$options]);
}

function check_read(string $name, string $client, string $log, string ...$options): array
{
    $result = found($log, ...$options);
    $report = json_decode($result['out'], true) ?? [];
    $seen = [$report['requests'] ?? null, $report['clients'] ?? null, $report['from'] ?? null, $report['suggestions'][0]['capacity'] ?? null, $report['broken_lines'] ?? null];
    check("$name: read right", $seen === [120, 30, '2026-09-22T00:00:00Z', 3, 0], [$result['err'], $seen]);
    check("$name: the place is printed", str_starts_with($report['read_as'][0]['client'] ?? '', "$client, 203.0.113.1"), $report['read_as'] ?? null);
    return $report;
}

function check_asked(string $name, array $words, string $log, string ...$options): void
{
    $result = found($log, ...$options);
    $missing = array_filter($words, static fn (string $word): bool => !str_contains($result['err'], $word));
    check("$name: asked", $result['code'] === 2 && $result['out'] === '' && $missing === [], [$missing, $result]);
}

// Read without a question: format, and where the client is.
$formats = [
    'an API gateway, the client and its proxies nested' => ['request.headers.x-forwarded-for', static fn (string $ip, int $time, string $edge, int $number): string => $json(['request' => ['method' => 'POST', 'uri' => '/login', 'headers' =>
        ['user-agent' => AGENT, 'x-forwarded-for' => "$ip"], 'size' => '512'], 'client_ip' => $ip, 'started_at' => $time * 1000 + 3, 'tries' => [['ip' => '10.0.3.' . $number % 3, 'port' => 80]]])],
    "AWS's API Gateway" => ['ip', static fn (string $ip, int $time): string => $json(['requestId' => 'c6af9ac6', 'ip' => $ip, 'caller' => '-', 'requestTime' => $common($time), 'httpMethod' => 'POST', 'resourcePath' => '/login', 'status' => '302'])],
    "Elastic's common schema" => ['source.ip', static fn (string $ip, int $time): string => $json(['@timestamp' => $iso($time, '.100'), 'event' => ['created' => $iso($time, '.900'), 'duration' => 12_000_000], 'source' => ['ip' => $ip, 'port' => 51234],
        'http' => ['request' => ['method' => 'POST', 'referrer' => 'https://shop.example/'], 'version' => '1.1'], 'url' => ['original' => '/login?next=/', 'path' => '/login'], 'user_agent' => ['original' => AGENT]])],
    'Serilog, addresses as IPv6' => ['ClientIp', static fn (string $ip, int $time): string => $json(['@t' => $iso($time, '.1234567'), '@mt' => 'HTTP {RequestMethod} {RequestPath}', 'RequestMethod' => 'POST', 'RequestPath' => '/login', 'ClientIp' => "::ffff:$ip", 'StatusCode' => 302])],
    'a platform that sends JSON with JSON inside' => ['message: req.clientIp', static fn (string $ip, int $time): string => $json(['id' => "$time", 'timestamp' => $time * 1000, 'message' => $json(['req' => ['clientIp' => $ip, 'method' => 'POST', 'path' => '/login'], 'dur' => 3])])],
    'syslog with @cee JSON' => ['peer', static fn (string $ip, int $time): string => gmdate('M d H:i:s', $time) . ' web1 app: @cee: ' . $json(['at' => $iso($time), 'peer' => "$ip:4711", 'verb' => 'post', 'target' => '/login'])],
    'logfmt' => ['remote_addr', static fn (string $ip, int $time): string => 't=' . gmdate('c', $time) . " lvl=info msg=\"Request Completed\" method=POST path=/login status=302 remote_addr=$ip time_ms=3 referer=https://shop.example/"],
    'Node, combined with IPv6 forms' => ['word 1', static fn (string $ip, int $time): string => $line("::ffff:$ip", $time)],
    'the time behind the request' => ['word 2', static fn (string $ip, int $time): string => "shop [$ip] \"POST /login HTTP/1.1\" 302 5 {$iso($time)} \"" . AGENT . '"'],
    'a Forwarded header behind an own balancer' => ['behind 5, last but one', static fn (string $ip, int $time): string => $line('10.0.0.9', $time) . " \"for=$ip;proto=https, for=10.0.0.8\""],
    'names before the values' => ['word 2', static fn (string $ip, int $time): string => "host=shop client=$ip time=\"{$iso($time)}\" \"POST /login HTTP/1.1\" 302"],
    "IPv6 with ports in one place with IPv4" => ['word 3', static fn (string $ip, int $time, string $edge, int $number): string => "{$iso($time)} lb " . ($number % 30 > 25 ? sprintf('2001:db8:1:%x:a:b:c:%x:%d', $number % 30, $number, 51_000 + $number) : "$ip:" . (51_000 + $number)) . ' 10.0.0.1:80 "POST /login HTTP/1.1" 302'],
    'IIS behind a proxy, a list with plus signs' => ['X-Forwarded-For, last but one', static fn (string $ip, int $time, string $edge, int $number): string => ($number === 0 ? "#Software: Microsoft Internet Information Services 10.0\n#Fields: date time s-ip cs-method cs-uri-stem cs-uri-query s-port c-ip cs(User-Agent) sc-status X-Forwarded-For\n" : '')
        . gmdate('Y-m-d H:i:s', $time) . " 172.18.21.9 POST /login - 443 172.18.23.68 Mozilla/5.0+(X11) 302 $ip:33453,+172.16.0.1:49770"],
    'users who are named with blanks and brackets' => ['word 1', static fn (string $ip, int $time, string $edge, int $number): string => rtrim(combined($ip, $time, 'POST /login', AGENT, $number % 3 === 0 ? 'anna [x] b' : '-'))],
    'Docker around a line with two times' => ['log: word 2', static fn (string $ip, int $time): string => $json(['log' => "web1 {$line($ip, $time)}\n", 'stream' => 'stdout', 'time' => $iso($time, '.7')])],
    'lines of a client that wrote a list itself' => ['word 1', static fn (string $ip, int $time, string $edge, int $number): string => $line($ip, $time) . ($number % 40 === 7 ? ' "8.8.8.8"' : ' "-"')],
];
foreach ($formats as $name => [$client, $format]) {
    check_read($name, $client, clients($format));
}

// Places that disagree.
$behind_cdn = clients(static fn (string $ip, int $time, string $edge): string => $line('10.0.0.9', $time) . " \"$ip, $edge\"");
check_asked('"client, edge" behind an own balancer', ['access.log: two places may be the client:', 'behind 5, last entry ', '7 networks', 'behind 5, last but one', '30 networks', "Say which, in place of PLACE: --client 'PLACE'", '--proxies LIST'], $behind_cdn);
check_read('the same, and the place is named', 'behind 5, last but one', $behind_cdn, '--client', 'behind 5, last but one');
check_read('the same, and the proxies are named', 'behind 5, before proxies', $behind_cdn, '--proxies', '172.64.0.0/13');
check_asked('a place that is not there', ["no place of the log that may be the client is called behind 6", "'behind 5, last entry'"], $behind_cdn, '--client', 'behind 6');
check_asked('the connection and what it forwards', ["--client 'PLACE'", 'word 1', 'behind 5'], clients(static fn (string $ip, int $time, string $edge): string => $line($edge, $time) . " \"$ip\""));
check_asked('two times', ['may be the time', "--time 'PLACE'", 'begin', 'end'], $two_times = clients(static fn (string $ip, int $time): string => $json(['ip' => $ip, 'begin' => $time, 'end' => $time + 30 + $time % 7, 'method' => 'POST', 'path' => '/login'])));
check_read('the same, and the time is named', 'ip', $two_times, '--time', 'begin');
check_asked('two paths', ['may be the request', "--request 'PLACE'", 'method and '], $two_paths = clients(static fn (string $ip, int $time, string $edge, int $number): string => $json(['ip' => $ip, 'ts' => $time, 'method' => 'POST', 'to' => $number < 30 ? '/page' : '/login', 'from' => $number % 2 ? '/login' : '/'])));
check('the same, and the path is named', json_decode(found($two_paths, '--request', 'method and to')['out'], true)['requests'] === 90);

$referred = clients(static fn (string $ip, int $time, string $edge, int $number): string => $json(['ip' => $ip, 'ts' => $time, 'method' => 'POST', 'referer' => "https://shop.example/$number", 'target' => 'https://shop.example/login']));
check_asked('a referrer beside a whole address', ['may be the request', 'method and '], $referred);
check('without --match it does not matter which is the request', find_limit(write_file('access.log', $referred))['requests'] === 120);

// Some requests come by proxies, and some do not.
$mixed = clients(static fn (string $ip, int $time, string $edge, int $number): string => $number % 30 < 10 ? $line($ip, $time) . ' "-"' : $line($edge, $time) . " \"$ip\"");
check_asked('proxies for some clients', ['word 1', 'behind 5', ' 66 % of lines'], $mixed);
$two = clients(static fn (string $ip, int $time, string $edge, int $number): string => ($number % 3 === 0 ? 'shop.example ' : '') . $line($ip, $time));
check_asked('two formats of text in one log', ['word 1', ' 66 % of lines', 'word 2', ' 33 % of lines'], $two);
$report = json_decode(found($two, '--client', 'word 1', '--client', 'word 2')['out'], true);
check('the same, and both places are named', [$report['clients'], $report['requests']] === [30, 120], $report);
check_read('proxies for some clients, and they are named', 'word 1, before proxies, else behind 5, before proxies', $mixed, '--proxies', '172.64.0.0/13');

$forged = clients(static fn (string $ip, int $time, string $edge, int $number): string => $line($ip, $time) . ($number % 5 === 0 ? " \"8.8.8.$number, $edge\"" : ' "-"'));
check_asked('clients that write the address of a proxy', ['word 1', 'behind 5'], $forged, '--proxies', '172.64.0.0/13');

// IPv6 addresses that may have a port or not.
$ports = clients(static fn (string $ip, int $time, string $edge, int $number): string => $line(sprintf('2001:db8::%x:1:2:3:%d', $number % 30 + 1, 5_000 + $number), $time));
check_asked('IPv6 addresses that may have a port', ['may have a port behind them, or not', "--client 'word 1, with a port'", "--client 'word 1, without a port'"], $ports);
foreach (['with' => 1, 'without' => 30] as $with => $clients) {
    check("the same, $with a port", json_decode(found($ports, '--by', 'network', '--client', "word 1, $with a port")['out'], true)['clients'] === $clients);
}

// The whole log answers otherwise than its first lines.
$late = clients(static fn (string $ip, int $time): string => $line($ip, $time) . ' "198.51.100.1"');
for ($number = 0; $number < 2000; $number++) {
    $late .= $line('203.0.113.' . ($number % 30 + 1), TIME + 120 + $number) . ' "' . ($number < 1000 ? '198.51.100.1' : '198.51.' . intdiv($number, 250) . '.' . $number % 250) . "\"\n";
}
check_asked('a place that was the same in the first lines has far more networks', ['behind 5 has about 1,0', 'word 1, which has about 30 networks', "--client 'behind 5'"], $late);
// Two places agree in the first lines, and later one of them is a proxy.
$parted = clients(static fn (string $ip, int $time): string => $line('192.0.2.' . $time % 6, $time) . ' "192.0.2.' . $time % 6 . '"');
for ($number = 0; $number < 3000; $number++) {
    $parted .= $line('192.0.2.' . $number % 6, TIME + 120 + $number) . ' "' . ($number < 1500 ? '192.0.2.' . $number % 6 : '203.0.113.' . $number % 60) . "\"\n";
}
check_asked('two places that part behind the first lines', ["--client 'behind 5' or --client 'word 1'"], $parted);
$result = found($late, '--client', 'word 1');
check('the same, and a person has said so: a doubt beside the report', $result['code'] === 0 && count(json_decode($result['out'], true)['doubts']) === 1 && str_contains($result['err'], 'behind 5 has about'), $result['err']);
$holes = clients($line) . str_repeat(str_replace('203.0.113.1 ', '- ', $line('203.0.113.1', TIME)) . "\n", 3);
check_asked('lines without a client', ['3 of 123 lines that match have no address of a client (word 1). The first:', '- - - ['], $holes);
check_asked('the same, whoever says where it is', ['3 of 123 lines'], $holes, '--client', 'word 1');

// A page of proxies.
$few = static fn (callable $address): string => implode('', array_map(static fn (int $number): string => $line($address($number), TIME + $number) . "\n", range(0, 599)));
foreach (['of a CDN' => static fn (int $number): string => '172.71.0.' . $number % 9, 'of this host' => static fn (): string => '127.0.0.1', 'of a private network' => static fn (int $number): string => 'fd00::' . $number % 2] as $name => $address) {
    check_asked("addresses $name alone", ['these look like proxies', "--client 'word 1'"], $few($address));
    $result = found($few($address), '--client', 'word 1');
    check("addresses $name, and a person has said so", $result['code'] === 0 && str_contains($result['err'], 'these look like proxies'), $result);
}

// A log that is named twice counts once.
$lines = explode("\n", rtrim(clients($line)));
$log = write_file('one.log', implode("\n", $lines) . "\n");
foreach (['itself' => $log, 'its copy' => write_file('copy.log', implode("\n", $lines) . "\n"), 'its .gz' => write_file('copy.gz', gzencode(implode("\n", $lines) . "\n"))] as $name => $copy) {
    $report = find_limit($log, $copy);
    check("a log and $name", [$report['requests'], $report['clients'], count($report['warnings'])] === [120, 30, 1] && str_contains($report['warnings'][0], 'once more'), $report['warnings']);
}
foreach (['an older copy' => array_slice($lines, 0, 60), 'its end' => array_slice($lines, 60)] as $name => $part) {
    $result = command(['find-limit', $log, write_file('part.log', implode("\n", $part) . "\n")]);
    check("a log and $name", $result['code'] === 2 && str_contains($result['err'], 'count twice'), $result);
}
