<?php
declare(strict_types=1);

/* A log is read right or refused: a client that is no address, a time that is none and a forgotten proxy do not go unnoticed. */

require __DIR__ . '/harness.inc';

$common = static fn (int $time): string => gmdate('d/M/Y:H:i:s +0000', $time);
$line = static fn (string $ip, int $time): string => rtrim(combined($ip, $time));
$json = static fn (array $fields): string => json_encode($fields, JSON_UNESCAPED_SLASHES);

/** Six logins of one client within a minute, one of another client. */
function logins(callable $format): string
{
    $lines = array_map(static fn (int $second): string => $format('192.0.2.7', TIME + $second), range(0, 50, 10));
    return implode("\n", [...$lines, $format('203.0.113.8', TIME + 55)]) . "\n";
}

/** Checks that the two clients are found, and returns what was found. */
function check_clients(string $name, string $log, string ...$options): array
{
    $result = command(['find-limit', '--json', write_file('access.log', $log), '--match', 'POST /login', '--rates', '1/min', '--deny-share', '0', ...$options]);
    $found = json_decode($result['out'], true) ?? [];
    $seen = [$found['requests'] ?? null, $found['clients'] ?? null, $found['from'] ?? null, $found['suggestions'][0]['capacity'] ?? null];
    check("$name: read right", $seen === [7, 2, '2026-09-22T00:00:00Z', 6], [$result['err'], $seen]);
    return $found;
}

function check_refused(string $name, string $message, string $log, string ...$options): void
{
    $result = command(['find-limit', write_file('access.log', $log), '--match', 'POST /login', ...$options]);
    check("$name: refused", $result['code'] === 1 && $result['out'] === '' && str_contains($result['err'], $message) && str_contains($result['err'], '--format'), $result);
}

/** Checks that there is no report, but something to say. */
function check_asked(string $name, string $message, string $log, string ...$options): void
{
    $result = command(['find-limit', write_file('access.log', $log), '--match', 'POST /login', ...$options]);
    check("$name: asked", $result['code'] === 2 && $result['out'] === '' && str_contains($result['err'], $message), $result);
}

// The format is found.
$formats = [
    'a virtual host first' => static fn (string $ip, int $time): string => "shop.example {$line($ip, $time)}",
    "the server's address first" => static fn (string $ip, int $time): string => "198.51.100.1 {$line($ip, $time)}",
    'a port behind the address' => static fn (string $ip, int $time): string => $line("$ip:4711", $time),
    'an IPv6 address in brackets, and its port' => static fn (string $ip, int $time): string => $line($ip === '192.0.2.7' ? '[2001:db8::7]:4711' : $ip, $time),
    'a forwarded list in the place of the client' => static fn (string $ip, int $time): string => $line("198.51.100.66, $ip, 10.0.0.9", $time),
    'a forwarded list behind the user agent' => static fn (string $ip, int $time): string => $line('10.0.0.' . (5 + $time % 2), $time) . " \"198.51.100.66, $ip\"",
    'a duration first' => static fn (string $ip, int $time): string => "0.012 {$line($ip, $time)}",
    'the time first' => static fn (string $ip, int $time): string => gmdate('c', $time) . " $ip POST /login 302",
    'fields with tabs' => static fn (string $ip, int $time): string => implode("\t", [gmdate('c', $time), $ip, 'POST', '/login', '302']),
    'fields with |' => static fn (string $ip, int $time): string => "$ip | " . gmdate('Y-m-d H:i:s', $time) . ' | "POST /login HTTP/1.1" | 302',
    'JSON: a time in brackets' => static fn (string $ip, int $time): string => $json(['time' => "[{$common($time)}]", 'ip' => $ip, 'request' => 'POST /login HTTP/1.1']),
    'JSON: the time beside a duration "time"' => static fn (string $ip, int $time): string => $json(['time' => '0.012', 'time_local' => $common($time), 'ip' => $ip, 'request' => 'POST /login HTTP/1.1']),
    'JSON: "request" is a path' => static fn (string $ip, int $time): string => $json(['ts' => $time, 'ip' => $ip, 'method' => 'POST', 'request' => '/login']),
    'JSON: "request" is an id' => static fn (string $ip, int $time): string => $json(['ts' => $time, 'ip' => $ip, 'method' => 'POST', 'uri' => '/login', 'request' => 'cc21d9b0cf5c432b']),
    'JSON: a port behind the address' => static fn (string $ip, int $time): string => $json(['ts' => $time, 'remote_addr' => "$ip:4711", 'method' => 'POST', 'uri' => '/login']),
    'JSON: a proxy, and the client beside it' => static fn (string $ip, int $time): string => $json(['ts' => $time, 'remote_addr' => '10.0.0.5', 'client_ip' => $ip, 'method' => 'POST', 'uri' => '/login']),
    'JSON: a proxy, and a forwarded list' => static fn (string $ip, int $time): string => $json(['ts' => $time, 'remote_addr' => '10.0.0.5', 'http_x_forwarded_for' => "198.51.100.66, $ip", 'method' => 'POST', 'uri' => '/login']),
    'JSON behind the words of another program' => static fn (string $ip, int $time): string => 'web-1  | ' . $json(['ts' => $time, 'ip' => $ip, 'method' => 'POST', 'uri' => '/login']),
    'pairs' => static fn (string $ip, int $time): string => 'time=' . gmdate('c', $time) . " level=info method=POST path=/login client_ip=$ip status=302",
];
foreach ($formats as $name => $format) {
    check_clients($name, logins($format));
}
$found = check_clients('text and JSON in one log', logins(static fn (string $ip, int $time): string => $time % 20 === 0 ? $line($ip, $time) : $json(['ts' => $time, 'ip' => $ip, 'method' => 'POST', 'uri' => '/login'])));
$other = write_file('b.log', $json(['ts' => TIME + 58, 'remote_addr' => '203.0.113.8', 'request' => 'POST /login HTTP/1.1']) . "\n");
$found = find_limit(write_file('a.log', logins($formats['a virtual host first'])), $other, '--match', 'POST /login');
check('each log has its own format', [$found['requests'], $found['clients'], $found['read_as'][0]['client'], $found['read_as'][1]['client']] === [8, 2, 'word 2, 192.0.2.7', 'remote_addr, 203.0.113.8'], $found);
$messages = str_repeat("nginx: worker process started\n", 3000);
check_clients('a request after many other messages', $messages . logins($line));

// --format.
$formats = [
    'combined' => $line,
    'common' => static fn (string $ip, int $time): string => (string) preg_replace('~ "-" "Moz.*~', '', $line($ip, $time)),
    'json' => static fn (string $ip, int $time): string => $json(['ts' => $time, 'ip' => $ip, 'method' => 'POST', 'uri' => '/login']),
    '$host $remote_addr - $remote_user [$time_local] "$request" $status' => static fn (string $ip, int $time): string => "10.1.2.3 $ip - anna b [{$common($time)}] \"POST /login HTTP/1.1\" 302",
    "log_format main escape=json '\$time_iso8601 \$status '\n    '\$remote_addr:\$remote_port \"\$request_method\" \"\$request_uri\"';" => static fn (string $ip, int $time): string => gmdate('c', $time) . " 302 $ip:4711 \"POST\" \"/login\"",
    '{"t":$msec,"peer":"$remote_addr","xff":"$http_x_forwarded_for","req":"$request"}' => static fn (string $ip, int $time): string => "{\"t\":$time.000,\"peer\":\"10.0.0.5\",\"xff\":\"$ip\",\"req\":\"POST /login HTTP/1.1\"}",
    '${remote_addr}|${time_local}|${request}|$upstream_addr' => static fn (string $ip, int $time): string => "$ip|{$common($time)}|POST /login HTTP/1.1|10.0.0.80:80, 10.0.0.81:80",
    '%v %{X-Forwarded-For}i %a %l %u %t "%r" %>s %b' => static fn (string $ip, int $time): string => "shop.example $ip, 10.0.0.9 10.0.0.5 - - [{$common($time)}] \"POST /login HTTP/1.1\" 302 5",
    'LogFormat "%{%d/%b/%Y:%T}t.%{msec_frac}t %{%z}t %h \"%m %U%q\" %D" timed' => static fn (string $ip, int $time): string => gmdate('d/M/Y:H:i:s', $time) . ".123 +0000 $ip \"POST /login\" 1200",
    '$remote_addr $msec $request_method $scheme://$host$request_uri $status' => static fn (string $ip, int $time): string => "$ip $time.000 POST https://shop.example/login 302",
    '%{sec}t %h %m %U %>s' => static fn (string $ip, int $time): string => "$time $ip POST /login 302",
];
foreach ($formats as $format => $lines) {
    $found = check_clients("--format '$format'", logins($lines), '--format', $format);
    check_clients("--format '$format', behind the words of another program", logins(static fn (string $ip, int $time): string => "web-1 | {$lines($ip, $time)}"), '--format', $format);
}
check_clients('--format, within the JSON of Docker', logins(static fn (string $ip, int $time): string => $json(['log' => "10.1.2.3 {$line($ip, $time)}\n", 'time' => gmdate('c', $time)])), '--format', '%A %h %l %u %t "%r"');
check_refused('--format of another log', 'no line fits --format', logins($line), '--format', '$time_iso8601 $remote_addr "$request"');
check_refused('--format that names a virtual host as the client', 'no line fits --format', logins(static fn (string $ip, int $time): string => "shop.example {$line($ip, $time)}"), '--format', '$remote_addr $host - $remote_user [$time_local] "$request"');

// Something is missing or doubtful.
$refused = [
    'names instead of addresses' => ['no place is an address', static fn (string $ip, int $time): string => $line('host-' . strtr($ip, '.', '-') . '.example', $time)],
    'no time' => ['no time with a date', static fn (string $ip, int $time): string => "$ip - - \"POST /login HTTP/1.1\" 302"],
    'a time of 2001' => ['no time with a date', static fn (string $ip, int $time): string => $line($ip, $time - 25 * 31_557_600)],
    'JSON: the time is a duration' => ['no time with a date', static fn (string $ip, int $time): string => $json(['time' => '0.012', 'ip' => $ip, 'request' => 'POST /login HTTP/1.1'])],
    'JSON: a name instead of an address' => ['no place is an address', static fn (string $ip, int $time): string => $json(['ts' => $time, 'ip' => 'host.example', 'request' => 'POST /login HTTP/1.1'])],
    'JSON: a path without its method' => ['no request, such as "POST /login HTTP/1.1"', static fn (string $ip, int $time): string => $json(['ts' => $time, 'ip' => $ip, 'request' => '/login'])],
];
foreach ($refused as $name => [$message, $format]) {
    check_refused($name, $message, logins($format));
}
check_asked('two addresses, and either may be the client', "  word 2  100 % of lines      2 networks  192.0.2.7\n  word 3  100 % of lines      2 networks  198.51.100.7",
    logins(static fn (string $ip, int $time): string => gmdate('c', $time) . " $ip " . str_replace(['192.0.2', '203.0.113'], '198.51.100', $ip) . ' "POST /login HTTP/1.1" 302'));
check_asked("clients of an intranet, and the server's public address", 'two places may be the client', logins(static fn (string $ip, int $time): string => '198.51.100.1 ' . $line(str_replace(['192.0.2', '203.0.113'], '10.0.0', $ip), $time)));

// More than the first lines show.
$good = implode('', array_map(static fn (int $number): string => $line('192.0.2.' . $number % 40, TIME) . "\n", range(0, 3999)));
$bad = [
    'a client that is no address' => ['lines that match have no address of a client (word 1)', $line('host.example', TIME) . "\n"],
    'a time of 1999' => ['lines that match have no time (word 4) of the last 20 years. The first:', str_replace('2026', '1999', $line('192.0.2.7', TIME)) . "\n"],
    'a time of 2044' => ['lines that match have no time (word 4) of the last 20 years', str_replace('2026', '2044', $line('192.0.2.7', TIME)) . "\n"],
];
foreach ($bad as $name => [$message, $bad_line]) {
    check_asked("$name in a seventh of the lines", '667 of 4,667 ' . $message, $good . str_repeat($bad_line, 667));
    check_asked("$name in a seventh of the lines: the first is shown", rtrim($bad_line), $good . str_repeat($bad_line, 667));
    $result = command(['find-limit', '--json', write_file('access.log', $good . str_repeat($bad_line, 40)), '--match', 'POST /login']);
    $found = json_decode($result['out'], true);
    check("$name in a hundredth of them is counted", $result['code'] === 0 && $found['requests'] === 4000 && $found['broken_lines'] + $found['lines_without_client'] === 40, $result);
}
$w3c = static fn (string $names, string $ip): string => "#Fields: date time $names\n" . gmdate('Y-m-d H:i:s', TIME) . " $ip POST /login 10.0.0.80\n";
$found = find_limit(write_file('access.log', $w3c('c-ip cs-method cs-uri-stem s-ip', '192.0.2.7') . str_replace(' 10.0.0.80', ' 192.0.2.8', $w3c('s-ip cs-method cs-uri-stem c-ip', '10.0.0.81'))));
check('columns that change', [$found['clients'], $found['requests'], $found['read_as'][0]['client']] === [2, 2, 'c-ip, 192.0.2.7'], $found['read_as']);
check('a header that is repeated', find_limit(write_file('access.log', str_repeat($w3c('c-ip cs-method cs-uri-stem s-ip', '192.0.2.7'), 2)))['requests'] === 2);

// Without addresses, where clients are something else.
$log = write_file('access.log', str_replace('host.example - -', 'host.example - anna', str_repeat($line('host.example', TIME) . "\n", 3)));
check('--by user needs no address', find_limit($log, '--by', 'user')['requests'] === 3);

// A proxy with a public address.
$log = logins(static fn (string $ip, int $time): string => $line('198.51.100.' . (1 + $time % 2), $time) . " \"$ip\"");
check_asked('a proxy that is not named', 'two places may be the client', $log);
$found = check_clients('a proxy that is named', $log, '--proxies', '198.51.100.0/24');
check('no warning of it', [$found['warnings'], $found['doubts']] === [[], []], $found['warnings']);
