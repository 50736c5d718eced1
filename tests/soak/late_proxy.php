<?php
/*
 * Passes connections on to a server, and keeps one answer in so many back for a while.
 * Usage: late_proxy.php PORT SERVER_PORT ONE_IN MICROSECONDS
 */
[, $port, $server_port, $one_in, $pause] = array_map(intval(...), $argv);
$listener = stream_socket_server("tcp://127.0.0.1:$port");
/** @var array<int, resource> $other the other end of each socket */
$sockets = $other = [];
/** @var array<int, array{int, string}> $late what is kept back for a client, and until when */
$late = [];
$is_server = [];
for ($answers = 0;;) {
    foreach ($late as $id => [$until, $bytes]) {
        if (hrtime(true) >= $until) {
            @fwrite($sockets[$id], $bytes);
            unset($late[$id]);
        }
    }
    $ready = [$listener, ...array_values($sockets)];
    $none = null;
    stream_select($ready, $none, $none, 0, 5_000);
    foreach ($ready as $socket) {
        if ($socket === $listener) {
            $pair = [stream_socket_accept($listener), stream_socket_client("tcp://127.0.0.1:$server_port")];
            foreach ($pair as $i => $end) {
                [$id, $sockets[(int) $end]] = [(int) $end, $end];
                [$other[$id], $is_server[$id]] = [$pair[1 - $i], $i === 1];
            }
            continue;
        }
        $id = (int) $socket;
        if (!isset($sockets[$id])) {
            continue; // closed in this turn
        }
        $to = (int) $other[$id];
        $bytes = (string) @fread($socket, 65_536);
        if ($bytes === '') {
            foreach ([$id, $to] as $end) {
                fclose($sockets[$end]);
                unset($sockets[$end], $other[$end], $is_server[$end], $late[$end]);
            }
        } elseif (isset($late[$to]) || $is_server[$id] && ++$answers % $one_in === 0) {
            $late[$to] = [$late[$to][0] ?? hrtime(true) + 1_000 * $pause, ($late[$to][1] ?? '') . $bytes];
        } else {
            @fwrite($other[$id], $bytes);
        }
    }
}
