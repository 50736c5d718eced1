<?php

namespace TokenBucket;

/**
 * Whether a client's address is in one of some networks.
 *
 *     if (in_network($address, '192.0.2.0/24 2001:db8::/32')) { ... }     // our offices
 *
 * Ask it for the address that client_address() returns, not for a header: clients write headers.
 *
 * @param string $address an IPv4 or IPv6 address, or a network as client_network() returns it, which must be in it as a
 *                        whole. A port is dropped. A text that is not an address is in no network
 * @param string|array $networks addresses and networks: a list of strings, or one string with blanks or commas between
 *                        them. An IPv4 network holds its addresses in IPv6 form (::ffff:192.0.2.1), too
 *
 * @throws \ValueError if one of them is not an address or network
 */
function in_network(string $address, string|array $networks): bool {}
