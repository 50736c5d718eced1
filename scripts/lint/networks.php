<?php
/**
 * Fails on a limit of single IPv6 addresses, of which a client has 2^64: an address beside a limiter that is not made a network by
 * client_network(). In a page of Markdown only blocks of code count, without what stands behind "// before"; in a program every
 * line that takes a client's address from the request.
 * Usage: networks.php FILE...
 */

const ADDRESS = '~->ip\(\)|getClientIp\(\)|(?<!isset\()\$_SERVER\[.REMOTE_ADDR.\]~';
// What is shown to an operator is an address.
const AS_NETWORK = '~client_network|client_address|in_network|__\(~';
// Of a variable named $ip nobody knows whether it is a network.
const IP_IN_A_LIMITER = '~(::per|new (\\\\?TokenBucket\\\\)?(TokenBucket|\w+Bucket|\w+Window))\([^;]*\$ip\b~';

$faults = 0;
foreach (array_slice($argv, 1) as $file) {
    $in_code = !str_ends_with($file, '.md');
    foreach (file($file) as $i => $line) {
        if (str_ends_with($file, '.md') && str_starts_with($line, '```')) {
            $in_code = !$in_code;
        }
        if (preg_match('~^\s*// (before|now)\b~', $line, $match)) {
            $in_code = $match[1] === 'now';
        }
        $is_address = preg_match(ADDRESS, $line) && !preg_match(AS_NETWORK, $line);
        if ($in_code && ($is_address || preg_match(IP_IN_A_LIMITER, $line))) {
            echo "$file:", $i + 1, ": make a network of the address, TokenBucket\\client_network(): ", trim($line), "\n";
            $faults++;
        }
    }
}
exit($faults ? 1 : 0);
