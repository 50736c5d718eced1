<?php
declare(strict_types=1);

/* The logs of these programs are read right, or refused: the reader knows none of their names. */

require __DIR__ . '/harness.inc';

$common = static fn (int $time): string => gmdate('d/M/Y:H:i:s +0000', $time);
$iso = static fn (int $time, string $fraction = '', string $zone = 'Z'): string => gmdate('Y-m-d\TH:i:s', $time) . $fraction . $zone;
$syslog = static fn (int $time): string => gmdate('M d H:i:s', $time);
$line = static fn (string $ip, int $time): string => rtrim(combined($ip, $time));
$json = static fn (array $fields): string => json_encode($fields, JSON_UNESCAPED_SLASHES);

// Lines as the documents of each program describe them: a login of the client at the time.
$programs = [
    'nginx and Apache, `combined`' => $line,
    'nginx, `main` of its packages, behind a proxy' => static fn (string $ip, int $time): string => $line('10.0.0.' . (5 + $time % 2), $time) . " \"$ip\"",
    'Apache, `vhost_combined`' => static fn (string $ip, int $time): string => 'shop.example:443 ' . $line($ip, $time),
    'Apache, X-Forwarded-For before `%h`' => static fn (string $ip, int $time): string => "$ip, 10.0.0.9 " . $line('10.0.0.5', $time),
    'Apache, `HostnameLookups On`' => static fn (string $ip, int $time): string => $line('host-' . strtr($ip, '.:', '--') . '.example', $time),
    'Caddy' => static fn (string $ip, int $time): string => $json(['level' => 'info', 'ts' => $time + 0.5, 'logger' => 'http.log.access', 'msg' => 'handled request', 'request' => ['remote_ip' => '10.0.0.5',
        'remote_port' => '4711', 'client_ip' => $ip, 'proto' => 'HTTP/2.0', 'method' => 'POST', 'host' => 'shop.example', 'uri' => '/login', 'headers' => ['User-Agent' => [AGENT]]],
        'user_id' => '', 'duration' => 0.0009, 'size' => 14, 'status' => 302]),
    'Traefik, `common`' => static fn (string $ip, int $time): string => "$ip - - [{$common($time)}] \"POST /login HTTP/1.1\" 302 5 \"-\" \"-\" 17 \"shop@docker\" \"http://172.18.0.3:80\" 2ms",
    'Traefik, `json`' => static fn (string $ip, int $time): string => $json(['ClientAddr' => "$ip:4711", 'ClientHost' => $ip, 'Duration' => 2_000_000, 'RequestMethod' => 'POST', 'RequestPath' => '/login',
        'StartLocal' => $iso($time, '.123456789'), 'StartUTC' => $iso($time, '.123456789'), 'level' => 'info', 'time' => $iso($time)]),
    'HAProxy, `httplog`' => static fn (string $ip, int $time): string => $syslog($time) . " lb1 haproxy[14389]: $ip:33317 [" . gmdate('d/M/Y:H:i:s', $time)
        . '.655] http-in static/srv1 10/0/30/69/109 302 2750 - - ---- 1/1/1/1/0 0/0 {shop.example} {} "POST /login HTTP/1.1"',
    'AWS, Application Load Balancer' => static fn (string $ip, int $time): string => "https {$iso($time, '.186641')} app/my-loadbalancer/50dc6c495c0c9188 $ip:2817 10.0.0.1:80 0.086 0.048 0.037 302 302 0 57 "
        . '"POST https://shop.example:443/login HTTP/1.1" "' . AGENT . '" ECDHE-RSA-AES128-GCM-SHA256 TLSv1.2 arn:aws:elasticloadbalancing:eu-central-1:123456789012:targetgroup/shop/73e2d6bc24d8a067 '
        . "\"Root=1-58337281-1d84f3d73c47ec4e58577259\" \"shop.example\" \"-\" 1 {$iso($time, '.100000')} \"forward\" \"-\" \"-\" \"10.0.0.1:80\" \"302\" \"-\" \"-\"",
    'AWS, CloudFront' => static fn (string $ip, int $time): string => gmdate("Y-m-d\tH:i:s", $time) . "\tFRA2-C2\t392\t$ip\tPOST\td111111abcdef8.cloudfront.net\t/login\t302\t-\tMozilla/5.0%20(X11)\t-\t-\tMiss\trid\tshop.example\thttps\t23\t0.001\t-",
    'AWS, WAF' => static fn (string $ip, int $time): string => $json(['timestamp' => $time * 1000, 'formatVersion' => 1, 'action' => 'ALLOW', 'httpSourceName' => 'ALB', 'httpRequest' => ['clientIp' => $ip,
        'country' => 'DE', 'headers' => [['name' => 'User-Agent', 'value' => AGENT]], 'uri' => '/login', 'args' => '', 'httpVersion' => 'HTTP/2.0', 'httpMethod' => 'POST', 'requestId' => 'rid']]),
    'AWS, S3' => static fn (string $ip, int $time): string => "79a59df900b949e55d96a1e698fbaced shop [{$common($time)}] $ip - 3E57427F3EXAMPLE REST.POST.OBJECT login \"POST /login HTTP/1.1\" 200 - 113 - 7 - \"-\" \"S3Console/0.4\" -",
    'Cloudflare, Logpush' => static fn (string $ip, int $time): string => $json(['ClientIP' => $ip, 'ClientRequestHost' => 'shop.example', 'ClientRequestMethod' => 'POST', 'ClientRequestURI' => '/login',
        'EdgeEndTimestamp' => $iso($time), 'EdgeResponseStatus' => 302, 'EdgeStartTimestamp' => $iso($time), 'RayID' => '3a6050bcbe121a87']),
    'Google Cloud, load balancer' => static fn (string $ip, int $time): string => $json(['httpRequest' => ['latency' => '0.012s', 'remoteIp' => $ip, 'requestMethod' => 'POST', 'requestUrl' => 'https://shop.example/login',
        'serverIp' => '10.8.0.6', 'status' => 302, 'userAgent' => AGENT], 'insertId' => '1j7vfmg', 'receiveTimestamp' => $iso($time + 1), 'timestamp' => $iso($time, '.123456')]),
    'Azure, Application Gateway' => static fn (string $ip, int $time): string => $json(['timeStamp' => $iso($time, '', '+00:00'), 'operationName' => 'ApplicationGatewayAccess', 'properties' => ['clientIP' => $ip,
        'clientPort' => 46886, 'httpMethod' => 'POST', 'requestUri' => '/login', 'userAgent' => AGENT, 'httpStatus' => 302, 'timeTaken' => 0.012, 'serverRouted' => '10.0.1.4:80', 'host' => 'shop.example']]),
    'Fastly, over syslog' => static fn (string $ip, int $time): string => "<134>{$iso($time)} cache-fra19120 shop[12345]: $ip \"-\" \"-\" [{$common($time)}] \"POST /login HTTP/1.1\" 302 5",
    'Heroku, router' => static fn (string $ip, int $time): string => "{$iso($time, '.123456', '+00:00')} heroku[router]: at=info method=POST path=\"/login\" host=shop.herokuapp.com request_id=8601b555 fwd=\"$ip\" dyno=web.1 connect=1ms service=18ms status=302 bytes=13 protocol=https",
    'Varnish, `varnishncsa`' => static fn (string $ip, int $time): string => "$ip - - [{$common($time)}] \"POST http://shop.example/login HTTP/1.1\" 302 5 \"-\" \"" . AGENT . '"',
    'lighttpd' => static fn (string $ip, int $time): string => "$ip shop.example - [{$common($time)}] \"POST /login HTTP/1.1\" 302 5 \"-\" \"" . AGENT . '"',
    'Squid' => static fn (string $ip, int $time): string => "$time.586 921 $ip TCP_MISS/302 507 POST http://shop.example/login - HIER_DIRECT/10.0.0.80 text/html",
    'IIS' => static fn (string $ip, int $time): string => gmdate('Y-m-d H:i:s', $time) . " 10.0.0.80 POST /login - 443 - $ip Mozilla/5.0+(X11;+Linux+x86_64) - 302 0 0 15",
    'Kubernetes, ingress-nginx' => static fn (string $ip, int $time): string => $line($ip, $time) . ' 512 0.012 [shop-web-80] [] 10.42.0.' . (3 + $time % 3) . ':8080 5 0.012 302 8601b555a1',
    'Kubernetes, Istio' => static fn (string $ip, int $time): string => $json(['start_time' => $iso($time, '.123'), 'method' => 'POST', 'path' => '/login', 'protocol' => 'HTTP/2', 'response_code' => 302,
        'downstream_remote_address' => '10.42.0.1:4711', 'upstream_host' => '10.42.0.3:8080', 'x_forwarded_for' => $ip, 'user_agent' => AGENT, 'duration' => 12]),
    'Envoy' => static fn (string $ip, int $time): string => "[{$iso($time, '.310')}] \"POST /login HTTP/2\" 302 - 154 0 226 100 \"$ip\" \"nsq2http\" \"cc21d9b0\" \"shop.example\" \"10.0.2.1:80\"",
    'containerd, a file of a pod' => static fn (string $ip, int $time): string => "{$iso($time, '.123456789')} stdout F {$line($ip, $time)}",
    'Docker, `json-file`' => static fn (string $ip, int $time): string => $json(['log' => $line($ip, $time) . "\n", 'stream' => 'stdout', 'time' => $iso($time, '.123456789')]),
    'Docker, `docker compose logs -t`' => static fn (string $ip, int $time): string => "web-1  | {$iso($time, '.123456789')} {$line($ip, $time)}",
    'systemd, `journalctl`' => static fn (string $ip, int $time): string => "{$syslog($time)} web1 nginx[812]: {$line($ip, $time)}",
    'systemd, `journalctl -o json`' => static fn (string $ip, int $time): string => $json(['__REALTIME_TIMESTAMP' => "{$time}000000", '_HOSTNAME' => 'web1', 'SYSLOG_IDENTIFIER' => 'nginx', 'MESSAGE' => $line($ip, $time)]),
    'rsyslog, RFC 5424' => static fn (string $ip, int $time): string => "<190>1 {$iso($time, '.123456')} web1 nginx 812 - - {$line($ip, $time)}",
    'Ruby on Rails' => static fn (string $ip, int $time): string => 'Started POST "/login" for ' . $ip . ' at ' . gmdate('Y-m-d H:i:s', $time) . " +0000\nProcessing by SessionsController#create as HTML\nCompleted 302 Found in 12ms",
    'Uvicorn' => static fn (string $ip, int $time): string => "INFO:     $ip:55210 - \"POST /login HTTP/1.1\" 302 Found",
    "PHP's own server" => static fn (string $ip, int $time): string => '[' . gmdate('D M j H:i:s Y', $time) . "] $ip:55210 [302]: POST /login",
];
$headers = [
    'AWS, CloudFront' => "#Version: 1.0\n#Fields: date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status cs(Referer) cs(User-Agent) cs-uri-query cs(Cookie) x-edge-result-type x-edge-request-id x-host-header cs-protocol cs-bytes time-taken x-forwarded-for\n",
    'IIS' => "#Software: Microsoft Internet Information Services 10.0\n#Version: 1.0\n#Date: 2026-09-22 00:00:00\n#Fields: date time s-ip cs-method cs-uri-stem cs-uri-query s-port cs-username c-ip cs(User-Agent) cs(Referer) sc-status sc-substatus sc-win32-status time-taken\n",
];

// Where the client's address is found, or what a log is refused for.
$expected = [
    'nginx and Apache, `combined`' => 'client: word 1',
    'nginx, `main` of its packages, behind a proxy' => 'client: behind 5',
    'Apache, `vhost_combined`' => 'client: word 2',
    'Apache, X-Forwarded-For before `%h`' => 'client: word 1, last but one',
    'Apache, `HostnameLookups On`' => 'refused: no place is an address',
    'Caddy' => 'client: request.client_ip',
    'Traefik, `common`' => 'client: word 1',
    'Traefik, `json`' => 'client: ClientAddr',
    'HAProxy, `httplog`' => 'client: word 6',
    'AWS, Application Load Balancer' => 'client: word 4',
    'AWS, CloudFront' => 'client: c-ip',
    'AWS, WAF' => 'client: httpRequest.clientIp',
    'AWS, S3' => 'client: word 4',
    'Cloudflare, Logpush' => 'client: ClientIP',
    'Google Cloud, load balancer' => 'client: httpRequest.remoteIp',
    'Azure, Application Gateway' => 'client: properties.clientIP',
    'Fastly, over syslog' => 'client: word 4',
    'Heroku, router' => 'client: fwd',
    'Varnish, `varnishncsa`' => 'client: word 1',
    'lighttpd' => 'client: word 1',
    'Squid' => 'client: word 3',
    'IIS' => 'client: c-ip',
    'Kubernetes, ingress-nginx' => 'client: word 1',
    'Kubernetes, Istio' => 'client: x_forwarded_for',
    'Envoy' => 'client: behind 7',
    'containerd, a file of a pod' => 'client: word 4',
    'Docker, `json-file`' => 'client: log: word 1',
    'Docker, `docker compose logs -t`' => 'client: word 4',
    'systemd, `journalctl`' => 'client: word 6',
    'systemd, `journalctl -o json`' => 'client: MESSAGE: word 1',
    'rsyslog, RFC 5424' => 'client: word 8',
    'Ruby on Rails' => 'client: behind 2',
    'Uvicorn' => 'refused: no time with a date',
    "PHP's own server" => 'refused: no time with a date',
];
check('each program has lines', array_keys($expected) === array_keys($programs), [array_diff_key($expected, $programs), array_diff_key($programs, $expected)]);

foreach ($programs as $name => $format) {
    // Later lines are looked at only if they may match; these are not.
    $others = str_repeat(str_replace(['login', 'POST'], ['other', 'GET'], $format('198.51.100.9', TIME)) . "\n", 1200);
    // One client logs in six times in a minute, another one once.
    $lines = implode("\n", array_map(static fn (int $second): string => $format('192.0.2.7', TIME + $second), range(0, 50, 10))) . "\n" . $format('203.0.113.8', TIME + 55) . "\n";
    $log = write_file('access.log', ($headers[$name] ?? '') . $lines . $others . $lines);
    $result = command(['find-limit', '--json', $log, '--match', 'POST /login', '--rates', '1/min', '--deny-share', '0']);
    $row = $expected[$name];
    if (str_starts_with($row, 'refused: ')) {
        check("$name is refused", $result['code'] === 1 && str_contains($result['err'], substr($row, strlen('refused: '))), $result);
        check("$name: what to do", str_contains($result['err'], '--format') && str_contains($result['err'], 'docs/find-limit.md'), $result['err']);
        continue;
    }
    $found = json_decode($result['out'], true);
    check("$name is read", $found !== null && [$found['requests'], $found['clients'], $found['from'], $found['to']] === [14, 2, '2026-09-22T00:00:00Z', '2026-09-22T00:00:55Z'], $result);
    check("$name: the suggestion", ($found['suggestions'][0]['capacity'] ?? null) === 12, $found['suggestions'] ?? null);
    check("$name: what was taken for the client", ($found['read_as'][0]['client'] ?? '') === substr($row, strlen('client: ')) . ', 192.0.2.7', $found['read_as'] ?? null);
    check("$name: no warning", $result['err'] === '', $result['err']);
}
