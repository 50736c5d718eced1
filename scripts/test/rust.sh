#!/bin/sh
# Runs the tests in Rust, while servers are up: one program more at once than there are cores, those that take longest first. One that
# fails is run once more, alone: what passes then depends on the machine's load, and is named in the last lines.
# Usage: rust.sh [PROGRAM]    of tests/, lib or doc; all by default
set -eu
cd "$(dirname "$0")/../.."

if [ $# = 0 ]; then
    longest="conformance slot_protocol lease_protocol turn_protocol"
    others=$(basename -a -s .rs tests/*.rs | grep -vxE "$(echo "$longest" | tr ' ' '|')")
    failed=$(mktemp)
    trap 'rm -f "$failed"' EXIT
    # shellcheck disable=SC2086
    printf '%s\n' $longest lib $others doc | xargs -P $(($(nproc) + 1)) -I '{}' sh -c "scripts/test/rust.sh {} || echo {} >>$failed"
    while read -r program; do
        scripts/test/rust.sh "$program" || exit 1
        echo "Passed alone, at the second try: $program"
    done <"$failed"
    exit
fi

# A model of processes computes, in one thread, because threads would wait for each other's stacks; the others wait for servers, in
# many threads.
threads=$(($(nproc) * 8))
case "$1" in
    lib | doc) what=--$1 ;;
    *)
        what="--test $1"
        ! grep -q loom "tests/$1.rs" || threads=1
        ;;
esac
status=0
# shellcheck disable=SC2086
output=$(RUST_TEST_THREADS=$threads cargo test --locked --quiet $what 2>&1) || status=$?
printf '%s:\n%s\n' "$1" "$output"
exit $status
