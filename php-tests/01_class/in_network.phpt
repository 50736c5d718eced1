--TEST--
in_network(): an address, or the network that a client is counted by, is in a network that holds all of it
--FILE--
<?php
require __DIR__ . '/../utils.inc';
use function TokenBucket\{client_network, in_network};

$networks = ['192.0.2.0/24', '10.1.2.3/8', '203.0.113.7', '2001:db8::/32', '2001:db9::1', '::ffff:198.51.100.0/120'];
$inside = [
    '192.0.2.0', '192.0.2.255', '192.0.2.1:4711', '::ffff:192.0.2.1', '64:ff9b::192.0.2.1', '192.0.2.64/26', '192.0.2.0/24', '10.255.0.1', '203.0.113.7',
    '203.0.113.7/32', '2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff', '[2001:db8::1]:443', '2001:db8::1%eth0', '2001:db8:1:2::/64', '2001:db9::1',
    '2001:db9::1/128', '198.51.100.255', client_network('192.0.2.9'), client_network('2001:db8::9'), client_network('192.0.2.9', ipv4Bits: 24),
];
$outside = [
    '192.0.3.0', '192.0.1.255', '192.0.0.0/16', '11.0.0.1', '203.0.113.6', '203.0.113.6/31', '2001:db7:ffff::', '2001:db9::2', '2001:db9::/64', '2001:d00::/24',
    '198.51.101.0', '::', '::192.0.2.1', '', 'unknown', 'anna', '192.0.2', '192.0.2.1 ', "192.0.2.1\0", '192.0.2.1/', '192.0.2.1/33', '192.0.2.1/-1', client_network('192.0.2.9', ipv4Bits: 16),
];
foreach (['in' => [$inside, true], 'out' => [$outside, false]] as $what => [$addresses, $expected]) {
    $wrong = array_filter($addresses, fn (string $address): bool => in_network($address, $networks) !== $expected);
    echo count($addresses), " $what, ", count($wrong), ' wrong ', implode(' ', $wrong), "\n";
}
// A text is a list, too; none holds nothing, and all hold all of their kind.
$text = implode(', ', $networks);
echo json_encode([in_network('192.0.2.1', $text), in_network('2001:db8::1', "192.0.2.0/24\n\t2001:db8::/32 "), in_network('192.0.3.1', $text)]), "\n";
echo json_encode([in_network('192.0.2.1', ''), in_network('192.0.2.1', []), in_network('192.0.2.1', '0.0.0.0/0'), in_network('::1', '::/0'), in_network('192.0.2.1', '::/0'), in_network('::1', '0.0.0.0/0')]), "\n";
thrown(
    fn () => in_network('192.0.2.1'),
    fn () => in_network([], []),
    fn () => in_network('192.0.2.1', ['192.0.2.0/24', 1]),
    fn () => in_network('192.0.2.1', '192.0.2.0/24 office'),
    fn () => in_network('no address', ['192.0.2.0/33']),
    fn () => in_network('192.0.2.1', ['192.0.2.0/24 ']),
    fn () => in_network('192.0.2.1', ["10/8\n"]),
    fn () => in_network('192.0.2.1', ['']),
);
?>
--EXPECT--
21 in, 0 wrong 
23 out, 0 wrong 
[true,true,false]
[false,false,true,true,false,false]
ArgumentCountError: TokenBucket\in_network() expects exactly 2 arguments, 1 given
TypeError: TokenBucket\in_network(): Argument #1 ($address) must be of type string, array given
TypeError: TokenBucket\in_network(): Argument #2 ($networks) must be a string or a list of strings
ValueError: TokenBucket\in_network(): Argument #2 ($networks) must contain addresses and networks like 10.0.0.0/8, "office" given
ValueError: TokenBucket\in_network(): Argument #2 ($networks) must contain addresses and networks like 10.0.0.0/8, "192.0.2.0/33" given
ValueError: TokenBucket\in_network(): Argument #2 ($networks) must contain addresses and networks like 10.0.0.0/8, "192.0.2.0/24 " given
ValueError: TokenBucket\in_network(): Argument #2 ($networks) must contain addresses and networks like 10.0.0.0/8, "10/8\n" given
ValueError: TokenBucket\in_network(): Argument #2 ($networks) must contain addresses and networks like 10.0.0.0/8, "" given
