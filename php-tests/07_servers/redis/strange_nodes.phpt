--TEST--
Redis: a cluster or sentinel that names no usable server: another is asked, and its text stays on one line
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.timeout_ms=5000
token_bucket.connect_timeout_ms=5000
--FILE--
<?php
require dirname(__DIR__, 2) . '/servers.inc';

/** A server that answers scripts with this and the mark, or with an error; and where the nodes are with one after the other, the last over and over. */
function server(string $script, string ...$maps): string
{
    $port = strange_server(function ($c) use ($script, &$maps): void {
        stream_set_blocking($c, true);
        $own = substr(strrchr(stream_socket_get_name($c, false), ':'), 1);
        while (($command = fread($c, 65536)) !== '' && $command !== false) {
            $answer = match (1) {
                preg_match('/EVALSHA/', $command) => str_starts_with($script, '-') ? $script : bulk($script . redis_mark($command)),
                preg_match('/CLUSTER|SENTINEL/', $command) => count($maps) > 1 ? array_shift($maps) : $maps[0],
                default => "+OK\r\n",
            };
            fwrite($c, str_replace('OWN', $own, $answer));
        }
        fclose($c);
    });
    return "127.0.0.1:$port";
}

function bulk(string $bytes): string
{
    return '$' . strlen($bytes) . "\r\n$bytes\r\n";
}

function range_of(string $host, string $port): string
{
    return "*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$" . strlen($host) . "\r\n$host\r\n:$port\r\n";
}

function told(string $what, string $dsn): void
{
    $said = warnings(function () use ($dsn, &$decision): void {
        $decision = (new TokenBucket($dsn, 'x', 10, 0.1))->attempt();
    });
    echo $what, ': ', $said ? json_encode(strstr($said[0], ';', true)) : ($decision->isDegraded() ? 'degraded' : 'decided'), "\n";
}

$accepted = '1' . time() . ' 0 ';
$own = range_of('', 'OWN');

told('its own address is not known to it', 'redis+cluster://' . server($accepted, $own));
foreach (['taken out of the cluster' => "*0\r\n", 'no map' => "+OK\r\n", 'no host' => range_of("a\e[2J b", '1'), 'no port' => range_of('a', '0')] as $what => $map) {
    told($what, 'redis+cluster://' . server($accepted, $map));
    told("$what, and one more", 'redis+cluster://' . server($accepted, $map) . ',' . server($accepted, $own));
}
// When it is asked again it knows better.
[$host, $port] = explode(':', server($accepted, $own));
$moved = server("-MOVED 1 a\e[2J b:1\r\n", $own, range_of($host, $port));
told('moved to nowhere', "redis+cluster://$moved");
told('moved to nowhere for ever', 'redis+cluster://' . server("-MOVED 1 a\e[2J b:1\r\n", $own));
told('no master', 'redis+sentinel://' . server($accepted, "*2\r\n$5\r\na\e[2J\r\n$1\r\n1\r\n") . '/main');
?>
--EXPECT--
its own address is not known to it: decided
taken out of the cluster: "TokenBucket::attempt(): Redis at 127.0.0.1:PORT: it knows no node of the cluster"
taken out of the cluster, and one more: decided
no map: "TokenBucket::attempt(): Redis at 127.0.0.1:PORT: it knows no node of the cluster"
no map, and one more: decided
no host: "TokenBucket::attempt(): Redis at 127.0.0.1:PORT: it knows no node of the cluster"
no host, and one more: decided
no port: "TokenBucket::attempt(): Redis at 127.0.0.1:PORT: it knows no node of the cluster"
no port, and one more: decided
moved to nowhere: decided
moved to nowhere for ever: "TokenBucket::attempt(): Redis at 127.0.0.1:PORT: MOVED 1 a?[2J b:1"
no master: "TokenBucket::attempt(): Redis at 127.0.0.1:PORT: the sentinel does not know the master"
