<?php

namespace TokenBucket;

/**
 * Returns the network that a client belongs to, for use in an identifier. A client with one IPv6 address usually has 2^64 of
 * them, so a bucket for each address would not limit it.
 *
 *     $bucket = TokenBucket::per(null, 'search:' . client_network($_SERVER['REMOTE_ADDR']), 30, 60);
 *
 * A /64 is the smallest network that a provider gives to a customer. Many give a /56 or a /48: add a second, larger
 * limit for that.
 *
 * @param string $address   an IPv4 or IPv6 address. An IPv4 address written as IPv6 (::ffff:192.0.2.1, or 64:ff9b::192.0.2.1
 *                          behind NAT64) counts as that IPv4 address; the zone of fe80::1%eth0 and a port are dropped
 * @param int    $ipv6Bits the length of an IPv6 network: 1 to 128
 * @param int    $ipv4Bits the length of an IPv4 network: 1 to 32. 32: the address itself
 *
 * @return string "192.0.2.1", "192.0.2.0/24" or "2001:db8:1:2::/64"; "unknown" for what is no address, which is said
 *                once in each process, in PHP's log
 *
 * @throws \ValueError if a number of bits is out of range
 */
function client_network(string $address, int $ipv6Bits = 64, int $ipv4Bits = 32): string {}
