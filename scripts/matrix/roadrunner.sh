#!/bin/sh
# RoadRunner with 4 workers, each a process whose one request of PHP's serves many.
# Usage: roadrunner.sh PROGRAM PHP EXTENSION    within scripts/servers.sh; PROGRAM is rr, which is in no package of Debian's; that of
# docs/runtimes.md was built with its plugins server, http, rpc, logger, informer and resetter.
set -eu
cd "$(dirname "$0")/../.."

program=$1
php=$2
extension=$3
. scripts/matrix/runtimes/server.sh

ini >"$folder/php.ini"
port=$(free_port)
rpc=$(free_port)
url=http://127.0.0.1:$port
# RoadRunner splits a command at its spaces, and lets a worker serve up to 15 % more than max_jobs.
cat >"$folder/rr.yaml" <<CONF
version: "3"
rpc: { listen: "tcp://127.0.0.1:$rpc" }
server: { command: "$php -n -c $folder/php.ini -d display_errors=stderr $PWD/scripts/matrix/runtimes/roadrunner.php", relay: pipes }
http: { address: "127.0.0.1:$port", pool: { num_workers: 4, max_jobs: 100 } }
logs: { mode: production, level: warn }
CONF
start_server "$program" serve -c "$folder/rr.yaml" -w "$folder"
prove 4 "$program reset http -c $folder/rr.yaml -w $folder"
stop_server

echo
echo "RoadRunner $("$program" --version | sed "s/.* version \([^ ]*\) .*/\1/"), 4 workers: exact counts on 4 stores, permits, nothing of the request before"
