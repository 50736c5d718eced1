#!/bin/sh
# Tests bin/token-bucket: tests/command/*.php, or those named. EXTENSION= names another build, PHP= another PHP.
set -eu
cd "$(dirname "$0")/../.."

. scripts/setup/php.sh
export EXTENSION="${EXTENSION:-$PWD/target/release/libtoken_bucket.so}"
[ -e "$EXTENSION" ] || { echo "There is no $EXTENSION: make build, or name it with EXTENSION=" >&2; exit 1; }
[ $# -gt 0 ] || set -- tests/command/*.php

output=$(mktemp)
trap 'rm -f "$output"' EXIT INT TERM
failed_files=0
for test in "$@"; do
    # token_bucket.shm_path names no folder: the tests leave no statistics on this host.
    "$php" -n -d extension="$EXTENSION" -d token_bucket.test_clock=1 -d token_bucket.shm_path=/nonexistent "$test" >"$output" || failed_files=$((failed_files + 1))
    cat "$output"
    tail -n 1 "$output" >>"$output.all"
done
sum() { sed -n "s/.* \([0-9]*\) $1.*/\1/p" "$output.all" | awk '{ n += $1 } END { print n + 0 }'; }
echo "$(sum passed) passed, $(sum failed) failed, $(sum skipped) skipped"
rm -f "$output.all"
[ "$failed_files" = 0 ]
