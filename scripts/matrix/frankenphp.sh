#!/bin/sh
# FrankenPHP, whose threads serve requests: its worker mode with 8 workers, then its classic mode.
# Usage: frankenphp.sh PROGRAM EXTENSION    within scripts/servers.sh
# PROGRAM is a frankenphp with the PHP that the extension was built for; it is in no package of Debian's. The one of docs/runtimes.md was built
# without Mercure, Vulcain, Brotli and its file watcher.
set -eu
cd "$(dirname "$0")/../.."

program=$1
extension=$2
. scripts/matrix/runtimes/server.sh

cat >"$folder/php.ini" <<INI
$(ini)
INI

# Writes the configuration of a mode, with these lines for its threads and workers.
configure() {
    port=$(free_port)
    url=http://127.0.0.1:$port
    cat >"$folder/Caddyfile" <<CONF
{
    admin unix/$folder/admin.sock
    auto_https off
    persist_config off
    storage file_system $folder/caddy
    frankenphp {
        num_threads 10
        $1
    }
}
http://:$port {
    bind 127.0.0.1
    root * $PWD/scripts/matrix/runtimes
    rewrite * /$2
    php
}
CONF
}
start() { start_server env PHPRC="$folder" XDG_CONFIG_HOME="$folder" XDG_DATA_HOME="$folder" "$program" run --config "$folder/Caddyfile" --adapter caddyfile; }
restart="curl -sf -X POST --unix-socket $folder/admin.sock http://localhost/frankenphp/workers/restart"
reload="curl -sf --unix-socket $folder/admin.sock -H 'Content-Type: text/caddyfile' --data-binary @$folder/Caddyfile http://localhost/load"

echo "Worker mode, 8 workers"
configure "worker $PWD/scripts/matrix/runtimes/worker.php 8" worker.php
start
prove 8 "$restart"
stop_server

echo "Classic mode, 10 threads"
configure '' classic.php
start
prove 0 "$reload"
stop_server

echo
echo "FrankenPHP ($("$program" version | cut -d ' ' -f 1-2)), worker mode with 8 workers and classic mode: exact counts on 4 stores, permits, nothing of the request before"
