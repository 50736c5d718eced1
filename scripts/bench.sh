#!/bin/sh
# Measures against the limiters that PHP users have today; prints a summary, and writes docs/benchmarks.md, its plots and README's numbers.
# Usage: bench.sh [SUBJECT]...    measures these subjects (files of benches/php) only
#        bench.sh scale           measures and simulates fleets, and writes docs/fleet/tables.md: half an hour
#        bench.sh hot_key         a part of that: one key that many workers want; prints a table
# QUICK=1 is a quick look, of about two minutes. With it, or with subjects other than scale, the page and its plots are in target/bench.
set -eu
cd "$(dirname "$0")/.."

[ -n "${TB_SERVERS-}" ] || exec scripts/servers.sh scripts/bench.sh "$@"

subjects="environment calls latency throughput server_cpu open_loop outage over_admission page stand_in instructions"
export BENCH_DATA="$PWD/target/bench"
mkdir -p "$BENCH_DATA"
if [ $# = 0 ]; then rm -f "$BENCH_DATA"/*.json; else subjects="environment $*"; fi
if [ "$*" = scale ]; then subjects="environment redis_cost scale hot_key"; fi
case "$*/${QUICK-}" in
    / | scale/) export BENCH_PAGE=docs ;;
    *) export BENCH_PAGE=target/bench ;;
esac
. scripts/setup/php.sh
tables=$(mktemp -d /dev/shm/token_bucket-bench.XXXXXX)
chmod 1777 "$tables"
trap 'rm -rf "$tables"' EXIT
trap 'exit 130' INT TERM
export BENCH_TABLES="$tables"
printf '[login]\nlimit = 10\ninterval = 10\n[customers]\nlimit = 10\ninterval = 10\nclients = customers.ini\n' >"$tables/limits.ini"
scripts/test/clients-file.sh 100000 >"$tables/customers.ini"
export BENCH_EXTENSION="${EXTENSION:-$PWD/target/release/libtoken_bucket.so}"

# How many cores were in use during a second, in which nothing of the benchmark runs but idle servers.
busy_cores() {
    { head -n 1 /proc/stat; sleep 1; head -n 1 /proc/stat; } | awk -v cores="$(nproc)" '{
        all = $2 + $3 + $4 + $5 + $6 + $7 + $8 + $9; idle = $5 + $6
        if (NR == 2) printf "%.2f", cores * (1 - (idle - idle_before) / (all - all_before))
        all_before = all; idle_before = idle
    }'
}

# Waits until other programs use less than BENCH_QUIET cores; two minutes at most in the whole run, and not at all for a quick look.
export BENCH_QUIET=0.3
patience=$([ -n "${QUICK-}" ] && echo 0 || echo 120)
wait_for_quiet() {
    until BENCH_BUSY=$(busy_cores); awk "BEGIN { exit $BENCH_BUSY >= $BENCH_QUIET }"; do
        [ "$patience" -gt 0 ] || { echo "The machine is busy with other things ($BENCH_BUSY cores): $1 is measured all the same, and the page is marked" >&2; break; }
        patience=$((patience - 1))
    done
    export BENCH_BUSY
}

# -n: without the machine's php.ini, so that every run measures the same. BENCH_OPTIONS is for a subject that starts another PHP.
run() {
    script=$1
    set -- -n -d zend_extension=opcache -d opcache.enable_cli=1 -d opcache.jit=disable -d apc.enable_cli=1 -d memory_limit=1G \
        -d token_bucket.shm_path="$tables" -d token_bucket.limits="$tables/limits.ini"
    for extension in posix apcu ctype mbstring igbinary msgpack redis memcached memcache mysqlnd pdo pdo_mysql "$BENCH_EXTENSION"; do
        set -- "$@" -d extension="$extension"
    done
    BENCH_OPTIONS=$(printf '%s\n' "$@") timeout --foreground 900 "$php" "$@" "$script"
}

for subject in $subjects; do
    wait_for_quiet "$subject"
    began=$(date +%s)
    run "benches/php/$subject.php"
    echo "measured: $subject, $(($(date +%s) - began)) s" >&2
done
if [ "$*" = scale ]; then
    cargo bench --quiet --locked --bench scale -- costs="$BENCH_DATA/scale-costs.txt" >"$BENCH_DATA/scale-simulated.json"
    cargo bench --quiet --locked --bench one_word >"$BENCH_DATA/one-word.json"
    run benches/php/scale_report.php
elif [ "$*" = hot_key ]; then
    run benches/php/hot_key_report.php
else
    run benches/php/report.php
    [ "$BENCH_PAGE" != docs ] || "$php" -n scripts/lint/speed.php --write
fi
