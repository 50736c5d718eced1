--TEST--
client_network(), client_address(): the network of an address, and the client's address behind proxies
--INI--
log_errors=0
--FILE--
<?php
require __DIR__ . '/../utils.inc';
use function TokenBucket\{client_address, client_network};

$networks = [
    '192.0.2.1' => '192.0.2.1',
    '0.0.0.0' => '0.0.0.0',
    '255.255.255.255' => '255.255.255.255',
    '2001:db8:1:2:3:4:5:6' => '2001:db8:1:2::/64',
    '2001:db8:1:2:ffff:ffff:ffff:ffff' => '2001:db8:1:2::/64',
    '2001:DB8:1:2::' => '2001:db8:1:2::/64',
    '2001:0db8:0001:0002:0:0:0:1' => '2001:db8:1:2::/64',
    '2001:db8:1:3::1' => '2001:db8:1:3::/64',
    '::1' => '::/64',
    'fe80::1%eth0' => 'fe80::/64',
    // IPv4, however it is written.
    '::ffff:192.0.2.1' => '192.0.2.1',
    '::FFFF:c000:201' => '192.0.2.1',
    '0:0:0:0:0:ffff:192.0.2.1' => '192.0.2.1',
    '64:ff9b::192.0.2.1' => '192.0.2.1',
    '64:ff9b::c000:201' => '192.0.2.1',
    // Near to that, and not the same.
    '64:ff9b:1::192.0.2.1' => '64:ff9b:1::/64',
    '::192.0.2.1' => '::/64',
    '::fffe:192.0.2.1' => '::/64',
    '2002:c000:201::1' => '2002:c000:201::/64',
    // No addresses.
    '' => 'unknown',
    'localhost' => 'unknown',
    '192.0.2' => 'unknown',
    '192.0.2.256' => 'unknown',
    '192.0.2.1.' => 'unknown',
    '0x7f.1' => 'unknown',
    "192.0.2.1\n" => 'unknown',
    "192.0.2.1\0evil" => 'unknown',
    ' 192.0.2.1' => 'unknown',
    '192.0.2.1%eth0' => '192.0.2.1',
    '192.0.2.1/24' => 'unknown',
    // A port after the address, as some web servers write REMOTE_ADDR.
    '192.0.2.1:80' => '192.0.2.1',
    '[2001:db8:1:2::1]' => '2001:db8:1:2::/64',
    '[2001:db8:1:2::1]:80' => '2001:db8:1:2::/64',
    '192.0.2.1:' => 'unknown',
    '192.0.2.1:x' => 'unknown',
    '[192.0.2.1' => 'unknown',
    '[2001:db8::1]80' => 'unknown',
    '2001:db8::1::2' => 'unknown',
    ':::' => 'unknown',
    '2001:db8::1%' => 'unknown',
    "2001:db8::1%e\n" => 'unknown',
    'unix:' => 'unknown',
    str_repeat('1', 10_000) => 'unknown',
    "\xff\xfe" => 'unknown',
];
foreach ($networks as $address => $network) {
    $is = client_network((string) $address);
    if ($is !== $network) {
        echo json_encode(substr((string) $address, 0, 40), JSON_INVALID_UTF8_SUBSTITUTE), " is $is, not $network\n";
    }
}
echo count($networks), " addresses\n";

foreach ([128, 64, 60, 57, 56, 48, 1] as $bits) {
    echo client_network('ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', $bits), ' ', client_network('192.0.2.1', $bits), "\n";
}
foreach ([32, 31, 24, 17, 16, 8, 1] as $bits) {
    echo client_network('255.255.255.255', ipv4Bits: $bits), ' ', client_network('2001:db8::1', ipv4Bits: $bits), ' ', client_network('::ffff:192.0.2.1', 128, $bits), "\n";
}

// What a client writes into the header does not count.
$proxies = ['10.0.0.0/8', '2001:db8:ffff::/48', '192.0.2.80'];
foreach ([
    // REMOTE_ADDR, X-Forwarded-For, the client
    ['198.51.100.7', null, '198.51.100.7'],
    ['198.51.100.7', '203.0.113.9', '198.51.100.7'],
    ['10.1.2.3', '203.0.113.9', '203.0.113.9'],
    ['10.1.2.3', '127.0.0.1, 203.0.113.9', '203.0.113.9'],
    ['10.1.2.3', '10.9.9.9, 203.0.113.9, 10.4.5.6', '203.0.113.9'],
    ['192.0.2.80', '203.0.113.9,192.0.2.80', '203.0.113.9'],
    ['192.0.2.81', '203.0.113.9', '192.0.2.81'],
    ['11.1.2.3', '203.0.113.9', '11.1.2.3'],
    ['::ffff:10.1.2.3', '203.0.113.9', '203.0.113.9'],
    ['2001:db8:ffff:1::1', '2001:db8:1::9', '2001:db8:1::9'],
    ['2001:db8:fffe:1::1', '2001:db8:1::9', '2001:db8:fffe:1::1'],
    ['10.1.2.3', '203.0.113.9:4711', '203.0.113.9'],
    ['10.1.2.3', '[2001:db8:1::9]:4711', '2001:db8:1::9'],
    ['10.1.2.3', '[2001:db8:1::9]', '2001:db8:1::9'],
    ['10.1.2.3', '203.0.113.9, unknown', 'unknown'],
    ['10.1.2.3', '203.0.113.9, ', '10.1.2.3'],
    ['10.1.2.3', '', '10.1.2.3'],
    ['10.1.2.3', '10.7.7.7', '10.7.7.7'],
    [null, '203.0.113.9', ''],
    ['10.1.2.3:4711', '203.0.113.9', '203.0.113.9'],
    ['[2001:db8:ffff::1]:4711', '203.0.113.9', '203.0.113.9'],
    ['198.51.100.7:4711', '203.0.113.9', '198.51.100.7'],
    ['unix:', '203.0.113.9', 'unix:'],
    ['', '203.0.113.9', ''],
] as [$remote, $forwarded, $client]) {
    $is = client_address(array_filter(['REMOTE_ADDR' => $remote, 'HTTP_X_FORWARDED_FOR' => $forwarded], is_string(...)), $proxies);
    if ($is !== $client) {
        echo "$remote, $forwarded: $is, not $client\n";
    }
}
// A proxy that reaches the web server by a unix socket. No client can make REMOTE_ADDR so; what a client can write into the header is no
// such proxy, nor is a request without any REMOTE_ADDR, or one that seems to come from a path.
foreach ([
    ['unix:', '203.0.113.9', '203.0.113.9'],
    ['', '203.0.113.9', '203.0.113.9'],
    ['unix:', '203.0.113.9, 198.51.100.7', '198.51.100.7'],
    ['unix:', '203.0.113.9, 10.4.5.6', '203.0.113.9'],
    ['unix:', null, 'unix:'],
    ['unix:', '203.0.113.9, unix:', 'unix:'],
    ['10.1.2.3', '203.0.113.9, unix:', 'unix:'],
    ['10.1.2.3', '203.0.113.9, unix:, 10.4.5.6', 'unix:'],
    ['unix:/run/other.sock', '203.0.113.9', 'unix:/run/other.sock'],
    ['UNIX:', '203.0.113.9', 'UNIX:'],
    ['unix', '203.0.113.9', 'unix'],
    ['198.51.100.7', '203.0.113.9', '198.51.100.7'],
    [null, '203.0.113.9', ''],
] as [$remote, $forwarded, $client]) {
    $is = client_address(array_filter(['REMOTE_ADDR' => $remote, 'HTTP_X_FORWARDED_FOR' => $forwarded], is_string(...)), ['unix:', '10.0.0.0/8']);
    if ($is !== $client) {
        echo "unix: $remote, $forwarded: $is, not $client\n";
    }
}
// A network trusts its own addresses only: no other family, no other network.
foreach (['::/0', '10.1.2.4', '10.1.2.2/32', '10.1.2.0/31', '11.0.0.0/8', '9.255.255.255/8', '::ffff:10.1.2.4', '64.0.0.0/2'] as $network) {
    if (client_address(['REMOTE_ADDR' => '10.1.2.3', 'HTTP_X_FORWARDED_FOR' => '203.0.113.9'], [$network]) !== '10.1.2.3') {
        echo "$network trusts 10.1.2.3\n";
    }
}
foreach (['0.0.0.0/0', '10.1.2.3', '10.1.2.3/32', '10.1.2.2/31', '10.255.255.255/8', '0.0.0.0/1', '::ffff:10.1.2.3', '::ffff:10.0.0.0/104', '64:ff9b::10.1.2.3'] as $network) {
    if (client_address(['REMOTE_ADDR' => '10.1.2.3', 'HTTP_X_FORWARDED_FOR' => '203.0.113.9'], ['192.0.2.1', $network]) !== '203.0.113.9') {
        echo "$network does not trust 10.1.2.3\n";
    }
}
// No proxy is trusted unless it is named.
echo client_address(['REMOTE_ADDR' => '10.1.2.3', 'HTTP_X_FORWARDED_FOR' => '203.0.113.9']), "\n";
echo client_address(['REMOTE_ADDR' => 'unix:', 'HTTP_X_FORWARDED_FOR' => '203.0.113.9'], ['0.0.0.0/0', '::/0']), "\n";
// Another header is read in the place of X-Forwarded-For, and in the same way.
foreach ([
    ['10.1.2.3', '203.0.113.9', '203.0.113.9'],
    ['10.1.2.3', '203.0.113.9, 10.4.5.6', '203.0.113.9'],
    ['10.1.2.3', '[2001:db8::9]:4711', '2001:db8::9'],
    ['198.51.100.7', '203.0.113.9', '198.51.100.7'],
    ['10.1.2.3', null, '10.1.2.3'],
] as [$remote, $written, $client]) {
    foreach (['X-Real-IP' => 'HTTP_X_REAL_IP', 'cf-connecting-ip' => 'HTTP_CF_CONNECTING_IP', 'X-Client2' => 'HTTP_X_CLIENT2'] as $header => $key) {
        $is = @client_address(array_filter(['REMOTE_ADDR' => $remote, $key => $written, 'HTTP_X_FORWARDED_FOR' => '192.0.2.7'], is_string(...)), $proxies, $header);
        if ($is !== $client) {
            echo "$remote, $header: $written: $is, not $client\n";
        }
    }
}
// Nothing but two strings is read of $_SERVER.
var_dump(client_address([]), client_address(['REMOTE_ADDR' => 5]), client_address(['REMOTE_ADDR' => ['10.1.2.3']], ['10.0.0.0/8']), client_address(['REMOTE_ADDR' => '10.1.2.3', 'HTTP_X_FORWARDED_FOR' => ['203.0.113.9']], ['10.0.0.0/8']));
// A header without end does not take long: the addresses of proxies are skipped, each once.
$start = hrtime(true);
echo client_address(['REMOTE_ADDR' => '10.1.2.3', 'HTTP_X_FORWARDED_FOR' => '203.0.113.9' . str_repeat(', 10.0.0.1', 100_000)], ['10.0.0.0/8']), hrtime(true) - $start < 2e10 ? "\n" : " took long\n";
// Both together make an identifier.
echo TokenBucket::per('array:', 'login:' . client_network(client_address(['REMOTE_ADDR' => '10.1.2.3', 'HTTP_X_FORWARDED_FOR' => '[2001:db8:1:2::9]:4711'], ['10.0.0.0/8'])), 1, 60)->consume() ? "accepted\n" : "denied\n";
echo TokenBucket::per('array:', 'login:2001:db8:1:2::/64', 1, 60)->consume() ? "accepted\n" : "denied\n";
?>
--EXPECT--
44 addresses
ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/128 192.0.2.1
ffff:ffff:ffff:ffff::/64 192.0.2.1
ffff:ffff:ffff:fff0::/60 192.0.2.1
ffff:ffff:ffff:ff80::/57 192.0.2.1
ffff:ffff:ffff:ff00::/56 192.0.2.1
ffff:ffff:ffff::/48 192.0.2.1
8000::/1 192.0.2.1
255.255.255.255 2001:db8::/64 192.0.2.1
255.255.255.254/31 2001:db8::/64 192.0.2.0/31
255.255.255.0/24 2001:db8::/64 192.0.2.0/24
255.255.128.0/17 2001:db8::/64 192.0.0.0/17
255.255.0.0/16 2001:db8::/64 192.0.0.0/16
255.0.0.0/8 2001:db8::/64 192.0.0.0/8
128.0.0.0/1 2001:db8::/64 128.0.0.0/1
10.1.2.3
unix:
string(0) ""
string(0) ""
string(0) ""
string(8) "10.1.2.3"
203.0.113.9
accepted
denied
