<?php
/*
 * Makes a server far: what passes takes half of a round trip in each direction. Usage: far_proxy.php PORT SERVER_PORT MICROSECONDS
 */
[, $port, $server_port, $round_trip] = array_map(intval(...), $argv);
$listener = stream_socket_server("tcp://127.0.0.1:$port", context: stream_context_create(['socket' => ['backlog' => 511]]));
/** @var array<int, resource> $sockets by number, and $other the end that each belongs to */
$sockets = $other = [];
/** @var SplQueue<array{int, int, string}> $under_way when it arrives, where, and what: in this order, for all take as long */
$under_way = new SplQueue();
while (true) {
    $now = hrtime(true);
    while (!$under_way->isEmpty() && $under_way->bottom()[0] <= $now) {
        [, $to, $bytes] = $under_way->dequeue();
        isset($sockets[$to]) && @fwrite($sockets[$to], $bytes);
    }
    $ready = [$listener, ...array_values($sockets)];
    $none = null;
    $wait = $under_way->isEmpty() ? 1_000_000 : max(0, intdiv($under_way->bottom()[0] - $now, 1_000));
    stream_select($ready, $none, $none, 0, $wait);
    foreach ($ready as $socket) {
        if ($socket === $listener) {
            $pair = [stream_socket_accept($listener), stream_socket_client("tcp://127.0.0.1:$server_port")];
            foreach ($pair as $i => $end) {
                stream_set_blocking($end, false);
                [$sockets[(int) $end], $other[(int) $end]] = [$end, (int) $pair[1 - $i]];
            }
            continue;
        }
        $id = (int) $socket;
        if (!isset($sockets[$id])) {
            continue; // closed in this turn
        }
        $bytes = (string) fread($socket, 65_536);
        if ($bytes === '') {
            foreach ([$id, $other[$id]] as $end) {
                fclose($sockets[$end]);
                unset($sockets[$end], $other[$end]);
            }
            continue;
        }
        $under_way->enqueue([hrtime(true) + 500 * $round_trip, $other[$id], $bytes]);
    }
}
