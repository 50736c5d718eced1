<?php
/*
 * A WHOIS service: one query a connection, ten a minute for each address (of IPv6 a /64).
 *
 *     php -d extension=token_bucket examples/whois.php [ADDRESS:PORT]
 *     whois -h 127.0.0.1 -p 4343 example.org
 *
 * Start as many as there are processors, each on a port of its own behind a balancer: in shared
 * memory they count together.
 */
declare(strict_types=1);

const DOMAINS = ['example.org' => 'Internet Assigned Numbers Authority', 'example.net' => 'IANA'];

$server = stream_socket_server('tcp://' . ($argv[1] ?? '127.0.0.1:4343'));
if (!$server) {
    exit(1);
}
echo 'Listening on ', stream_socket_get_name($server, false), "\n";
$whois = new TokenBucket(null, 'whois');

for (;;) {
    $client = @stream_socket_accept($server, 3_600, $peer);
    if (!$client) {
        continue;
    }
    // Before the query is read: a limited client costs nothing.
    $ip = trim(substr($peer, 0, (int) strrpos($peer, ':')), '[]');
    if ($whois->check(TokenBucket\client_network($ip), 10, 60)) {
        fwrite($client, "% Too many queries. Please come back in a minute.\r\n");
    } else {
        stream_set_timeout($client, 2);
        $name = strtolower(trim((string) fgets($client, 256)));
        $owner = DOMAINS[$name] ?? null;
        fwrite($client, $owner === null ? "% No match.\r\n" : "domain: $name\r\nholder: $owner\r\n");
    }
    fclose($client);
}
