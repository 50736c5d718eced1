--TEST--
client_network(), client_address(): Parameters are correctly validated
--INI--
log_errors=0
--FILE--
<?php
require __DIR__ . '/../utils.inc';
use function TokenBucket\{client_address, client_network};

thrown(
    fn () => client_network(),
    fn () => client_network('::1', 64, 32, 1),
    fn () => client_network([]),
    fn () => client_network('::1', 'many'),
    fn () => client_network('::1', 0),
    fn () => client_network('::1', 129),
    fn () => client_network('::1', -1),
    fn () => client_network('::1', PHP_INT_MIN),
    fn () => client_network('::1', 4_294_967_360),
    fn () => client_network('::1', 64, 0),
    fn () => client_network('::1', 64, 33),
    fn () => client_network('::1', ipv4Bits: -1),
    // Wrong bits are wrong whatever the address is.
    fn () => client_network('192.0.2.1', 0),
    fn () => client_network('no address', 64, 33),
    fn () => client_address(),
    fn () => client_address([], [], 'X-Real-IP', 1),
    fn () => client_address('10.0.0.1'),
    fn () => client_address([], '10.0.0.0/8'),
    fn () => client_address([], null),
    fn () => client_address([], ['10.0.0.0/8', 10]),
    fn () => client_address([], [null]),
    fn () => client_address([], [['10.0.0.0/8']]),
    fn () => client_address([], [], []),
    fn () => client_address([], [], ''),
    fn () => client_address([], [], 'HTTP_X_REAL_IP'),
    fn () => client_address([], [], "X-Real-IP\n"),
    fn () => client_address([], [], 'forwarded'),
);
// A mistake in a trusted proxy is reported, whether the proxy is needed or not.
foreach (['10.0.0.0/', '10.0.0.0/x', '10.0.0.0/-1', '10.0.0.0/33', '10.0.0.0/8/8', '10.0.0.0/+8', '10.0.0.0/ 8', '/8', '10/8', '', '::/129', '::ffff:10.0.0.0/95', 'unix', 'x/0', 'localhost', "10.0.0.0/8\n", ' 10.0.0.0/8', "10.0.0.1\0", "\xff", '10.0.0.0/99999999999999999999', 'ü"'] as $mistake) {
    thrown(fn () => client_address(['REMOTE_ADDR' => '192.0.2.1'], ['10.0.0.0/8', $mistake]));
}
?>
--EXPECT--
ArgumentCountError: TokenBucket\client_network() expects at least 1 argument, 0 given
ArgumentCountError: TokenBucket\client_network() expects at most 3 arguments, 4 given
TypeError: TokenBucket\client_network(): Argument #1 ($address) must be of type string, array given
TypeError: TokenBucket\client_network(): Argument #2 ($ipv6Bits) must be of type int, string given
ValueError: TokenBucket\client_network(): Argument #2 ($ipv6Bits) must be between 1 and 128
ValueError: TokenBucket\client_network(): Argument #2 ($ipv6Bits) must be between 1 and 128
ValueError: TokenBucket\client_network(): Argument #2 ($ipv6Bits) must be between 1 and 128
ValueError: TokenBucket\client_network(): Argument #2 ($ipv6Bits) must be between 1 and 128
ValueError: TokenBucket\client_network(): Argument #2 ($ipv6Bits) must be between 1 and 128
ValueError: TokenBucket\client_network(): Argument #3 ($ipv4Bits) must be between 1 and 32
ValueError: TokenBucket\client_network(): Argument #3 ($ipv4Bits) must be between 1 and 32
ValueError: TokenBucket\client_network(): Argument #3 ($ipv4Bits) must be between 1 and 32
ValueError: TokenBucket\client_network(): Argument #2 ($ipv6Bits) must be between 1 and 128
ValueError: TokenBucket\client_network(): Argument #3 ($ipv4Bits) must be between 1 and 32
ArgumentCountError: TokenBucket\client_address() expects at least 1 argument, 0 given
ArgumentCountError: TokenBucket\client_address() expects at most 3 arguments, 4 given
TypeError: TokenBucket\client_address(): Argument #1 ($server) must be of type array, string given
TypeError: TokenBucket\client_address(): Argument #2 ($trustedProxies) must be of type array, string given
TypeError: TokenBucket\client_address(): Argument #2 ($trustedProxies) must be of type array, null given
TypeError: TokenBucket\client_address(): Argument #2 ($trustedProxies) must be a list of strings
TypeError: TokenBucket\client_address(): Argument #2 ($trustedProxies) must be a list of strings
TypeError: TokenBucket\client_address(): Argument #2 ($trustedProxies) must be a list of strings
TypeError: TokenBucket\client_address(): Argument #3 ($header) must be of type string, array given
ValueError: TokenBucket\client_address(): Argument #3 ($header) must name a header of addresses, such as X-Real-IP
ValueError: TokenBucket\client_address(): Argument #3 ($header) must name a header of addresses, such as X-Real-IP
ValueError: TokenBucket\client_address(): Argument #3 ($header) must name a header of addresses, such as X-Real-IP
ValueError: TokenBucket\client_address(): Argument #3 ($header) must name a header of addresses, such as X-Real-IP
ValueError: TokenBucket\client_address(): Argument #2 ($trustedProxies) must contain addresses, networks like 10.0.0.0/8, and "unix:", "10.0.0.0/" given
ValueError: TokenBucket\client_address(): Argument #2 ($trustedProxies) must contain addresses, networks like 10.0.0.0/8, and "unix:", "10.0.0.0/x" given
ValueError: TokenBucket\client_address(): Argument #2 ($trustedProxies) must contain addresses, networks like 10.0.0.0/8, and "unix:", "10.0.0.0/-1" given
ValueError: TokenBucket\client_address(): Argument #2 ($trustedProxies) must contain addresses, networks like 10.0.0.0/8, and "unix:", "10.0.0.0/33" given
ValueError: TokenBucket\client_address(): Argument #2 ($trustedProxies) must contain addresses, networks like 10.0.0.0/8, and "unix:", "10.0.0.0/8/8" given
ValueError: TokenBucket\client_address(): Argument #2 ($trustedProxies) must contain addresses, networks like 10.0.0.0/8, and "unix:", "10.0.0.0/+8" given
ValueError: TokenBucket\client_address(): Argument #2 ($trustedProxies) must contain addresses, networks like 10.0.0.0/8, and "unix:", "10.0.0.0/ 8" given
ValueError: TokenBucket\client_address(): Argument #2 ($trustedProxies) must contain addresses, networks like 10.0.0.0/8, and "unix:", "/8" given
ValueError: TokenBucket\client_address(): Argument #2 ($trustedProxies) must contain addresses, networks like 10.0.0.0/8, and "unix:", "10/8" given
ValueError: TokenBucket\client_address(): Argument #2 ($trustedProxies) must contain addresses, networks like 10.0.0.0/8, and "unix:", "" given
ValueError: TokenBucket\client_address(): Argument #2 ($trustedProxies) must contain addresses, networks like 10.0.0.0/8, and "unix:", "::/129" given
ValueError: TokenBucket\client_address(): Argument #2 ($trustedProxies) must contain addresses, networks like 10.0.0.0/8, and "unix:", "::ffff:10.0.0.0/95" given
ValueError: TokenBucket\client_address(): Argument #2 ($trustedProxies) must contain addresses, networks like 10.0.0.0/8, and "unix:", "unix" given
ValueError: TokenBucket\client_address(): Argument #2 ($trustedProxies) must contain addresses, networks like 10.0.0.0/8, and "unix:", "x/0" given
ValueError: TokenBucket\client_address(): Argument #2 ($trustedProxies) must contain addresses, networks like 10.0.0.0/8, and "unix:", "localhost" given
ValueError: TokenBucket\client_address(): Argument #2 ($trustedProxies) must contain addresses, networks like 10.0.0.0/8, and "unix:", "10.0.0.0/8\n" given
ValueError: TokenBucket\client_address(): Argument #2 ($trustedProxies) must contain addresses, networks like 10.0.0.0/8, and "unix:", " 10.0.0.0/8" given
ValueError: TokenBucket\client_address(): Argument #2 ($trustedProxies) must contain addresses, networks like 10.0.0.0/8, and "unix:", "10.0.0.1\0" given
ValueError: TokenBucket\client_address(): Argument #2 ($trustedProxies) must contain addresses, networks like 10.0.0.0/8, and "unix:", "�" given
ValueError: TokenBucket\client_address(): Argument #2 ($trustedProxies) must contain addresses, networks like 10.0.0.0/8, and "unix:", "10.0.0.0/99999999999999999999" given
ValueError: TokenBucket\client_address(): Argument #2 ($trustedProxies) must contain addresses, networks like 10.0.0.0/8, and "unix:", "ü\"" given
