<?php
/*
 * A WHOIS service: one query a connection, ten a minute for each address (of IPv6 a /64).
 *
 *     php examples/whois.php [ADDRESS:PORT [BALANCER]...]
 *     whois -h 127.0.0.1 -p 4343 example.org
 *
 * All workers accept from one socket, where the kernel tells the client's address, and they count together in shared memory.
 * Behind a balancer all clients would be one. Name its address, and have it send the PROXY protocol, version 1 or 2 (HAProxy:
 * send-proxy-v2).
 */
declare(strict_types=1);

const DOMAINS = ['example.org' => 'Internet Assigned Numbers Authority', 'example.net' => 'IANA'];
/** How many clients are served at the same time, and the seconds that each has. */
const WORKERS = 16;
const SECONDS = 3;

/**
 * What a balancer writes before the query: the client's address, null if the connection is the balancer's own, such as a check of
 * its health.
 *
 * @param resource $connection
 */
function read_proxy_header($connection): ?string
{
    $line = (string) fgets($connection, 108);
    if (preg_match('/^PROXY (?:TCP[46] (\S+) \S+ \d+ \d+|UNKNOWN.*)\r\n$/D', $line, $match)) {
        return $match[1] ?? null;
    }
    // Version 2 is binary, and begins with a line break.
    $head = $line === "\r\n" ? stream_get_contents($connection, 14) : '';
    if (!preg_match('/^\r\n\0\r\nQUIT\n([\x20\x21])(.)(..)$/Ds', (string) $head, $match)) {
        throw new UnexpectedValueException('the balancer sent no PROXY header');
    }
    $addresses = (string) stream_get_contents($connection, unpack('n', $match[3])[1]);
    $length = ['1' => 4, '2' => 16][ord($match[2]) >> 4] ?? 0;
    return $match[1] === "\x21" && $length > 0 ? (inet_ntop(substr($addresses, 0, $length)) ?: null) : null;
}

/** @param resource $connection */
function serve($connection, string $peer, array $balancers): string
{
    $address = trim(substr($peer, 0, (int) strrpos($peer, ':')), '[]');
    if (in_array($address, $balancers, true)) {
        $address = read_proxy_header($connection) ?? $address;
    }
    // Before the query is read: a limited client costs nothing.
    if ((new TokenBucket(null, 'whois'))->check(TokenBucket\client_network($address), 10, 60)) {
        return "% Too many queries. Please come back in a minute.\r\n";
    }
    $name = strtolower(trim((string) fgets($connection, 256)));
    $owner = DOMAINS[$name] ?? null;
    return $owner === null ? "% No match.\r\n" : "domain: $name\r\nholder: $owner\r\n";
}

$server = stream_socket_server('tcp://' . ($argv[1] ?? '127.0.0.1:4343'));
if (!$server) {
    exit(1);
}
// Of the workers that see a connection one gets it; the others go on waiting.
stream_set_blocking($server, false);
echo 'Listening on ', stream_socket_get_name($server, false), "\n";
$parent = getmypid();

for ($workers = 0;;) {
    if ($workers < WORKERS) {
        $workers++;
        if (pcntl_fork() !== 0) {
            continue;
        }
        // A worker. It ends when its parent has ended.
        while (posix_getppid() === $parent) {
            $connection = @stream_socket_accept($server, 1, $peer);
            if ($connection) {
                // However slowly the client writes: the signal ends this worker, and the parent starts another.
                pcntl_alarm(SECONDS);
                try {
                    fwrite($connection, serve($connection, $peer, array_slice($argv, 2)));
                } catch (UnexpectedValueException $e) {
                    error_log("whois: $peer: {$e->getMessage()}");
                }
                fclose($connection);
                pcntl_alarm(0);
            }
        }
        exit;
    }
    pcntl_wait($status);
    $workers--;
    // Not at full speed if all fail, such as without a store.
    if (!pcntl_wifsignaled($status)) {
        sleep(1);
    }
}
