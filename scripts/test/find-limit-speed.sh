#!/bin/sh
# Measures find-limit on a log of LINES=5200000 lines, which are 1 GB, in TMPDIR: seconds, and the most memory of all its processes together.
# EXTENSION= names another build.
set -eu
cd "$(dirname "$0")/../.."

. scripts/setup/php.sh
extension=${EXTENSION:-$PWD/target/release/libtoken_bucket.so}
lines=${LINES:-5200000}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT INT TERM
"$php" -n tests/command/large_log.inc "$lines" >"$folder/access.log"

# What processes share is counted once: the proportional set size.
memory() {
    sum=0
    for process in "$1" $(cat "/proc/$1/task/$1/children" 2>/dev/null); do
        size=$(sed -n 's/^Pss: *\([0-9]*\).*/\1/p' "/proc/$process/smaps_rollup" 2>/dev/null || true)
        sum=$((sum + ${size:-0}))
    done
    echo "$sum"
}

measure() {
    title=$1
    shift
    began=$(date +%s.%N)
    "$php" -n -d extension="$extension" bin/token-bucket find-limit "$@" >"$folder/output" &
    process=$!
    most=0
    while kill -0 "$process" 2>/dev/null; do
        now=$(memory "$process")
        [ "$now" -le "$most" ] || most=$now
        sleep 0.2
    done
    wait "$process"
    awk -v title="$title" -v began="$began" -v ended="$(date +%s.%N)" -v most="$most" \
        'BEGIN { printf "%-28s %6.1f s %6d MB\n", title, ended - began, most / 1024 }'
}

measure "$lines lines" "$folder/access.log" --match 'POST /login'
gzip -1 "$folder/access.log"
measure "$lines lines, .gz" "$folder/access.log.gz" --match 'POST /login'
