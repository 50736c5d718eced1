<?php
declare(strict_types=1);

/* Every format that is documented is read, and gives the same clients, requests and times. */

require __DIR__ . '/harness.inc';

$browser = 'Mozilla/5.0 (X11; Linux x86_64)';

// Each format has the same three tries of one client, and one of another; 20 s apart.
$formats = [
    'combined' => static fn (string $ip, int $time): string => combined($ip, $time),
    'nginx, with further fields' => static fn (string $ip, int $time): string => rtrim(combined($ip, $time)) . " \"10.0.0.1, 10.0.0.2\" rt=0.012\n",
    'common' => static fn (string $ip, int $time): string => preg_replace('~ "-" "Moz.*"~', '', combined($ip, $time)),
    'another zone' => static fn (string $ip, int $time): string => "$ip - - [" . gmdate('d/M/Y:H:i:s', $time - 5 * 3600 - 1800) . " -0530] \"POST /login HTTP/2.0\" 302 - \"-\" \"$browser\"\n",
    'vhost_combined' => static fn (string $ip, int $time): string => 'shop.example:443 ' . combined($ip, $time),
    'a user with blanks and brackets' => static fn (string $ip, int $time): string => combined($ip, $time, 'POST /login', $browser, 'anna [x] b'),
    'escaped quotes' => static fn (string $ip, int $time): string => combined($ip, $time, 'POST /login?q=\"x\"', 'Mozilla/5.0 (\"quoted\")'),
    'carriage returns' => static fn (string $ip, int $time): string => rtrim(combined($ip, $time)) . "\r\n",
];
$json = [
    'time_iso8601, request' => static fn (string $ip, int $time): array => ['time_iso8601' => gmdate('c', $time), 'remote_addr' => $ip, 'request' => 'POST /login HTTP/1.1', 'http_user_agent' => $browser],
    'time_local' => static fn (string $ip, int $time): array => ['time_local' => gmdate('d/M/Y:H:i:s +0000', $time), 'remote_addr' => $ip, 'request' => 'POST /login HTTP/1.1'],
    '@timestamp, method and uri' => static fn (string $ip, int $time): array => ['@timestamp' => gmdate('Y-m-d\TH:i:s.000\Z', $time), 'client_ip' => $ip, 'method' => 'POST', 'uri' => '/login', 'user_agent' => $browser],
    'time without a zone, path' => static fn (string $ip, int $time): array => ['time' => gmdate('Y-m-d H:i:s', $time), 'ip' => $ip, 'request_method' => 'POST', 'path' => '/login'],
    'ts in seconds' => static fn (string $ip, int $time): array => ['ts' => $time + 0.0001, 'remote_ip' => $ip, 'verb' => 'POST', 'url' => '/login'],
    'timestamp in milliseconds' => static fn (string $ip, int $time): array => ['timestamp' => $time * 1000, 'clientip' => $ip, 'method' => 'POST', 'request_uri' => '/login'],
    'msec as text' => static fn (string $ip, int $time): array => ['msec' => "$time.000", 'remote_addr' => $ip, 'request' => 'POST /login HTTP/1.1'],
    'nanoseconds' => static fn (string $ip, int $time): array => ['ts' => $time * 1_000_000_000, 'remote_addr' => $ip, 'request' => 'POST /login HTTP/1.1'],
    'Caddy' => static fn (string $ip, int $time): array => ['level' => 'info', 'ts' => $time + 0.5, 'request' => ['remote_ip' => $ip, 'remote_port' => '4711', 'method' => 'POST', 'uri' => '/login', 'headers' => ['User-Agent' => [$browser]]], 'status' => 200],
    'Traefik' => static fn (string $ip, int $time): array => ['StartUTC' => gmdate('Y-m-d\TH:i:s.123456789\Z', $time), 'ClientHost' => $ip, 'RequestMethod' => 'POST', 'RequestPath' => '/login'],
];
foreach ($json as $name => $fields) {
    // json_encode writes \/ for a slash, which some writers do and others do not.
    $formats["JSON: $name"] = static fn (string $ip, int $time): string => json_encode($fields($ip, $time)) . "\n";
    $formats["JSON: $name, plain slashes"] = static fn (string $ip, int $time): string => json_encode($fields($ip, $time), JSON_UNESCAPED_SLASHES) . "\n";
}

// Enough lines that the later ones are only looked at if they may match; these are not.
$others = static fn (callable $format): string => str_repeat(str_replace(['login', 'POST'], ['other', 'GET'], $format('198.51.100.9', TIME)), 2500);
foreach ($formats as $name => $format) {
    $lines = $others($format);
    foreach ([0, 20, 40] as $second) {
        $lines .= $format('192.0.2.7', TIME + $second);
    }
    $log = write_file('access.log', $lines . $format('2001:db8::1', TIME + 60));
    $found = find_limit($log, '--match', 'POST /login', '--rates', '1/min', '--deny-share', '0');
    check("$name: read", [$found['requests'], $found['clients'], $found['broken_lines'], $found['lines']] === [4, 2, 0, 2504], $found);
    check("$name: times", [$found['from'], $found['to']] === ['2026-09-22T00:00:00Z', '2026-09-22T00:01:00Z'] && $found['suggestions'][0]['capacity'] === 3, $found);
}

$log = write_file('access.log', combined('192.0.2.7', TIME) . combined('192.0.2.7', TIME + 20));
$part = combined('192.0.2.7', TIME + 40) . combined('192.0.2.8', TIME + 60);
$again = [find_limit($log, write_file('b.log', $part))];
$again[] = find_limit($log, write_file('b.log.gz', gzencode($part)));
$again[] = find_limit(write_file('both.gz', gzencode(file_get_contents($log)) . gzencode($part)));
$again[] = find_limit(write_file('padded', gzencode(file_get_contents($log) . $part) . str_repeat("\0", 1000)));
$again[] = find_limit(write_file('no-end.log', rtrim(file_get_contents($log) . $part)));
foreach ([file_get_contents($log) . $part, gzencode(file_get_contents($log) . $part)] as $input) {
    $result = command(['find-limit', '--json', '-'], $input);
    $again[] = json_decode($result['out'], true) ?? $result;
}
foreach ($again as $number => $found) {
    check("files, .gz, members of it, standard input: $number", ($found['requests'] ?? null) === 4 && $found['clients'] === 2 && $found['warnings'] === [], $found);
}

// What counts as a client.
$log = write_file('access.log', combined('2001:db8:1:2::1', TIME, 'GET /', $browser, 'anna') . combined('2001:db8:1:2::2', TIME) . combined('2001:db8:1:3::1', TIME)
    . combined('::ffff:192.0.2.1', TIME, 'GET /', $browser, 'anna') . combined('192.0.2.1', TIME) . combined('192.0.2.2', TIME));
check('--by network: an IPv6 /64, an IPv4 address', find_limit($log)['clients'] === 4);
check('--ipv6-bits 48, --ipv4-bits 24', find_limit($log, '--ipv6-bits', '48', '--ipv4-bits', '24')['clients'] === 2);
check('--by address: ::ffff:192.0.2.1 is 192.0.2.1', find_limit($log, '--by', 'address')['clients'] === 5);
$found = find_limit($log, '--by', 'user');
check('--by user', [$found['clients'], $found['requests'], $found['lines_without_client']] === [1, 2, 4], $found);
$found = find_limit(write_file('vhosts.log', 'shop.example:443 ' . combined('2001:db8::1', TIME, 'GET /', $browser, 'anna b') . 'shop.example:443 ' . combined('192.0.2.1', TIME, 'GET /', $browser, 'anna c')), '--by', 'user', '--rates', '1/h');
check('--by user, behind a virtual host', [$found['clients'], $found['limits'][0]['first_clients'], $found['read_as'][0]['client']] === [2, [], 'user, anna b'], $found['read_as']);
$line = ['ts' => TIME, 'ip' => '192.0.2.1', 'request' => 'GET /'];
$log = write_file('access.log', json_encode($line + ['api_key' => 'a']) . "\n" . json_encode($line + ['api_key' => 12]) . "\n" . json_encode($line) . "\n");
$found = find_limit($log, '--by', 'field:api_key');
check('--by field:NAME', [$found['clients'], $found['requests'], $found['lines_without_client']] === [2, 2, 1], $found);

// Which requests count.
$requests = ['POST /login', 'GET /login', 'POST /login?next=/', 'POST /loginx', 'GET /shop/7/buy', 'GET /shop/7/buy/now', 'GET /a.php', 'HEAD /a.php?x'];
$log = write_file('access.log', implode('', array_map(static fn (string $request): string => combined('192.0.2.1', TIME, $request), $requests)));
$json_log = write_file('json.log', implode('', array_map(static fn (string $request): string => json_encode(['ts' => TIME, 'ip' => '192.0.2.1', 'request' => "$request HTTP/1.1"]) . "\n", $requests)));
$patterns = ['POST /login' => 3, 'post /login$' => 1, '/login' => 4, '* /login$' => 2, 'GET /shop/*/buy' => 2, 'GET /shop/*/buy$' => 1, '/*.php' => 2, '/*.php$' => 1, '*buy' => 2, '/*/*/buy$' => 1, '/s*o*/*uy*$' => 2, '/*a.php*x' => 1];
foreach ($patterns as $pattern => $count) {
    foreach ([$log, $json_log] as $file) {
        check("--match '$pattern' in " . basename($file), find_limit($file, '--match', $pattern)['requests'] === $count, $count);
    }
}

// Lines of a log need not be in order of time.
$log = write_file('access.log', combined('192.0.2.7', TIME + 120) . combined('192.0.2.7', TIME) . combined('192.0.2.7', TIME + 60));
check('sorted by time', find_limit($log, '--rates', '1/min')['suggestions'][0]['capacity'] === 1);
