#!/bin/sh
# Records histories of real processes on every store, some of them killed or stopped, and searches an order that explains
# them. Then one of a recipe that counts wrong, which must be found out. SECONDS_EACH= sets the length on each store (5).
set -eu
cd "$(dirname "$0")/.."

[ -n "${TB_SERVERS-}" ] || exec scripts/servers.sh scripts/histories.sh

. scripts/setup/php.sh
cargo build --locked --quiet --example check_history
check=target/debug/examples/check_history
posix=
"$php" -n -m | grep -qx posix || posix='-d extension=posix'
folder=$(mktemp -d /dev/shm/token_bucket-histories.XXXXXX)
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM

# Usage: history NAME DSN [get-and-set]
history() {
    mkdir -p "$folder/tables" "$folder/$1"
    # shellcheck disable=SC2086
    "$php" -n $posix -d extension="${EXTENSION:-$PWD/target/release/libtoken_bucket.so}" -d token_bucket.shm_path="$folder/tables" \
        -d token_bucket.on_error=throw -d token_bucket.deny_cache=0 tests/histories/record.php "$2" "$folder/$1" "${SECONDS_EACH:-5}" "${3:-ours}"
    "$check" "$folder/$1"
}

# What a process loses on the others when it is stopped has a bound that a busy machine may exceed: the short form leaves them out.
set -- "shared-memory shm:histories" "Redis $TB_REDIS"
[ -n "${SHORT-}" ] || set -- "$@" "memcached $TB_MEMCACHED" "MariaDB $TB_MARIADB" "MySQL $TB_MYSQL"
for store; do
    printf '%-14s ' "${store%% *}"
    history "${store%% *}" "${store#* }" || { echo "A history on ${store%% *} is not explained"; exit 1; }
done
printf '%-14s ' get-and-set
mkdir "$folder/counts"
! history get-and-set "$folder/counts" get-and-set >"$folder/found" || { echo "The recipe was not found out"; exit 1; }
tail -n 1 "$folder/found"
