<?php

namespace TokenBucket;

/**
 * Returns the address of the client that a request came from.
 *
 *     $client = client_network(client_address($_SERVER, ['10.0.0.0/8']));
 *
 * That is REMOTE_ADDR, unless it is that of a trusted proxy. Each proxy adds the address of its peer to the right of
 * X-Forwarded-For, so the client is the rightmost address there that is not a trusted proxy. Addresses further to
 * the left may have been written by the client. A port after an address is dropped.
 *
 * If no proxy is trusted, REMOTE_ADDR is a private address and a header says that a proxy has passed the request on, PHP's log says
 * so once in a process (token_bucket.warn_of_mistakes).
 *
 * @param array $server          $_SERVER; only REMOTE_ADDR and HTTP_X_FORWARDED_FOR are read
 * @param array $trustedProxies addresses and networks: "10.0.0.5", "10.0.0.0/8", "2001:db8::/32". "unix:" is whatever reaches the web
 *                               server by a unix socket: REMOTE_ADDR is "unix:" or empty then. Without any, the header has no effect
 *
 * @return string the address as it was written, which may be a text that is no address; '' without a REMOTE_ADDR
 *
 * @throws \ValueError if a trusted proxy is not an address, a network or "unix:"
 * @throws \TypeError if a trusted proxy is not a string
 */
function client_address(array $server, array $trustedProxies = []): string {}
