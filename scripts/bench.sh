#!/bin/sh
# Measures against what PHP users have today; prints a table for the README.
set -eu
cd "$(dirname "$0")/.."

php=${PHP:-php}
tables=$(mktemp -d /dev/shm/token_bucket-bench.XXXXXX)
trap 'rm -rf "$tables"' EXIT INT TERM

# -n: without the machine's php.ini, so that every run measures the same.
set -- -n -d apc.enable_cli=1 -d memory_limit=1G
for extension in apcu ctype igbinary msgpack redis memcached memcache mysqlnd pdo pdo_mysql \
    "${EXTENSION:-$PWD/target/release/libtoken_bucket.so}"; do
    set -- "$@" -d extension="$extension"
done
scripts/servers.sh "$php" "$@" -d token_bucket.shm_path="$tables" benches/php/bench.php
