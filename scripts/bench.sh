#!/bin/sh
# Measures against the limiters that PHP users have today; prints a summary, and writes docs/benchmarks.md and its plots.
# Usage: bench.sh [SUBJECT]...    measures these subjects (files of benches/php) only
#        bench.sh scale           measures and simulates fleets, and writes docs/scaling.md
# BENCH_ROUNDS=2 is a quick look. With it, or with subjects other than scale, the page and its plots are in target/bench.
set -eu
cd "$(dirname "$0")/.."

[ -n "${TB_SERVERS-}" ] || exec scripts/servers.sh scripts/bench.sh "$@"

subjects="environment calls latency throughput server_cpu outage over_admission page instructions"
export BENCH_DATA="$PWD/target/bench"
mkdir -p "$BENCH_DATA"
if [ $# = 0 ]; then rm -f "$BENCH_DATA"/*.json; else subjects="environment $*"; fi
if [ "$*" = scale ]; then subjects="environment redis_cost scale"; fi
case "$*/${BENCH_ROUNDS-}" in
    / | scale/) export BENCH_PAGE=docs ;;
    *) export BENCH_PAGE=target/bench ;;
esac
. scripts/setup/php.sh
tables=$(mktemp -d /dev/shm/token_bucket-bench.XXXXXX)
chmod 1777 "$tables"
trap 'rm -rf "$tables"' EXIT
trap 'exit 130' INT TERM
export BENCH_TABLES="$tables"
printf '[login]\nlimit = 10\ninterval = 10\n' >"$tables/limits.ini"
export BENCH_EXTENSION="${EXTENSION:-$PWD/target/release/libtoken_bucket.so}"

# -n: without the machine's php.ini, so that every run measures the same.
run() {
    script=$1
    set -- -n -d apc.enable_cli=1 -d memory_limit=1G -d token_bucket.shm_path="$tables" -d token_bucket.limits="$tables/limits.ini"
    for extension in posix apcu ctype igbinary msgpack redis memcached memcache mysqlnd pdo pdo_mysql "$BENCH_EXTENSION"; do
        set -- "$@" -d extension="$extension"
    done
    timeout --foreground 900 "$php" "$@" "$script"
}

for subject in $subjects; do
    began=$(date +%s)
    run "benches/php/$subject.php"
    echo "measured: $subject, $(($(date +%s) - began)) s" >&2
done
if [ "$*" = scale ]; then
    cargo bench --quiet --locked --bench scale -- costs="$BENCH_DATA/scale-costs.txt" >"$BENCH_DATA/scale-simulated.json"
    cargo bench --quiet --locked --bench one_word >"$BENCH_DATA/one-word.json"
    run benches/php/scale_report.php
else
    run benches/php/report.php
fi
