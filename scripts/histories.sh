#!/bin/sh
# Records calls of real processes on every store while processes and servers fail, and searches an order of the calls that
# explains the answers. Then calls of limiters that accept too many, which must be found out. docs/exactness.md has more.
# Usage: histories.sh                                        all
#        histories.sh explained|found_out CASE STORE [FAULT]   one: CASE as in tests/histories/record.php, STORE by its name
# SECONDS_EACH= is the length of each (5), MINUTES= that of all. SHORT=1 takes what needs no time to be sure, for make test.
set -eu
cd "$(dirname "$0")/.."

[ -n "${TB_SERVERS-}" ] || exec scripts/servers.sh scripts/histories.sh "$@"

. scripts/setup/php.sh
cargo build --locked --quiet --example check_history
check=$PWD/target/debug/examples/check_history
folder=$(mktemp -d /dev/shm/token_bucket-histories.XXXXXX)
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM
mkdir "$folder/tables"
ours=$(load posix pcntl)
rivals=$(load posix pcntl ctype mbstring)
[ -n "${SHORT-}" ] || rivals="$rivals $(load apcu igbinary msgpack redis memcached)"
failed=

store() {
    case $1 in
        shared-memory) echo shm:histories ;;
        full-table) echo shm:full ;;
        Redis) echo "$TB_REDIS" ;;
        Cluster) echo "$TB_REDIS_CLUSTER" ;;
        Sentinel) echo "$TB_REDIS_SENTINEL" ;;
        memcached) echo "$TB_MEMCACHED" ;;
        MariaDB) echo "$TB_MARIADB" ;;
        MySQL) echo "$TB_MYSQL" ;;
        *) echo "$1" ;;
    esac
}
# A server of its own, for a fault.
server() {
    case $1 in Redis) echo redis ;; MariaDB) echo mariadbd ;; MySQL) echo mysqld ;; Sentinel) echo sentinel ;; Cluster) echo cluster ;; *) echo "$1" ;; esac
}
# Usage: record CASE STORE [FAULT]
record() {
    rm -rf "$folder/run"
    mkdir "$folder/run"
    size=8M
    # Its table is full after four thousand keys.
    [ "$1" != flood ] || size=64K
    extensions=$ours
    case $1 in get_and_set_* | symfony_* | laravel_*) extensions=$rivals ;; esac
    if [ $# = 3 ]; then set -- "$1" "$(server "$2")" "$3"; else set -- "$1" "$(store "$2")"; fi
    # shellcheck disable=SC2086
    "$php" -n $extensions -d apc.enable_cli=1 -d extension="${EXTENSION:-$PWD/target/release/libtoken_bucket.so}" -d memory_limit=1G \
        -d token_bucket.shm_path="$folder/tables" -d token_bucket.shm_size=$size -d token_bucket.on_error=throw \
        -d token_bucket.deny_cache=0 -d token_bucket.test_clock=1 -d token_bucket.warn_of_mistakes=0 \
        tests/histories/record.php "$1" "$2" "$folder/run" "${SECONDS_EACH:-5}" ${3+"$3"}
}
# Every call is explained.
explained() {
    kept=
    printf '%-27s' "$1, $2${3+, $3}"
    record "$@" || { failed=1; echo "not recorded"; return 0; }
    "$check" "$folder/run" >"$folder/said" || failed=1 kept=target/histories/$(echo "$*" | tr ' ' -)
    cat "$folder/said"
    tail -n 1 "$folder/said" >>"$folder/in_all"
    [ -n "$kept" ] || return 0
    rm -rf "$kept"
    mkdir -p target/histories
    cp -r "$folder/run" "$kept"
    echo "A history of $* is not explained: $kept"
}
# A rival is found out: some call is not. The first such is shown.
found_out() {
    [ -n "${PLANTED-}" ] || printf '%-36s' "$1"
    record "$@"
    if "$check" "$folder/run" >"$folder/said"; then
        failed=1
        echo "not found out"
    fi
    tail -n 1 "$folder/said"
    # The first that is not, as the checker draws it.
    [ -n "${SHORT-}" ] || sed -n '/: no order explains/,/^$/p; /^$/q' "$folder/said"
}

if [ $# -gt 0 ]; then
    "$@"
    [ -z "$failed" ]
    exit
fi
if [ -n "${SHORT-}" ]; then
    # What a process loses on others when it is stopped has a bound that a busy machine may exceed.
    explained limits shared-memory
    explained limits Redis
    explained compound Redis
    explained permits shared-memory
    explained numbers shared-memory
    explained leases Redis
    found_out get_and_set_files files
    [ -z "$failed" ]
    exit
fi
[ -z "${MINUTES-}" ] || SECONDS_EACH=$((MINUTES * 60 / 43))
for name in shared-memory Redis Cluster Sentinel memcached MariaDB MySQL; do explained limits "$name"; done
for name in shared-memory Redis Cluster memcached MariaDB MySQL; do explained compound "$name"; done
for name in shared-memory Redis; do explained permits "$name"; done
for name in shared-memory Redis Cluster Sentinel memcached MariaDB MySQL; do explained numbers "$name"; done
for name in Redis memcached MariaDB MySQL; do explained leases "$name"; done
explained flood full-table
for fault in stop restart cut; do
    for name in Redis memcached; do explained limits "$name" $fault; done
done
for name in MariaDB MySQL; do explained limits "$name" restart; done
for name in Sentinel Cluster; do explained limits $name failover; done
awk '{ calls += $1; keys += $4; not += $14; given_up += $NF }
    END { printf "%-27s%s calls on %s keys explained; not explained: %s keys, too many orders: %s\n", "in all", calls, keys, not, given_up }' "$folder/in_all"
echo "Limiters that accept too many:"
found_out get_and_set_files files
found_out get_and_set_redis Redis
found_out get_and_set_memcached memcached
found_out symfony_apcu apcu
found_out symfony_redis Redis
found_out laravel_files files
[ -z "$failed" ]
