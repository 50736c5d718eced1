#!/bin/sh
# Runs the Rust tests and the phpt of classes, stores, directives, errors and reflection that arm64.sh has built. Usage: arm64-inside.sh [php]    php: only those
set -eu
cd "$(dirname "$0")/../.."

step() { printf '\n== %s\n' "$1"; }

# qemu refuses MADV_DONTFORK, so no process has a lock by which others see that it has ended: permits end by their lifetimes alone.
locks="--skip lock_is_seen_by_other_open_files --skip dead_holder_is_found --skip frees_the_dead_of --skip process_that_has_ended
    --skip place_of_a_dead_process"
if [ "${1-}" != php ]; then
    step "Rust"
    for program in "$CARGO_TARGET_DIR"/*-*; do
        echo "$(basename "${program%-*}")"
        # shellcheck disable=SC2086
        "$program" --quiet $locks
    done
fi

step "PHP"
# Emulated processes are slow: one test at a time keeps within the time-outs.
export EXTENSION="$CARGO_TARGET_DIR/libtoken_bucket.so" TEST_TIMEOUT=900 JOBS=1
# Left out: those that start a server themselves, which would have to be one for this processor; shm_permits, which needs the locks;
# and three that count what many processes get of a server in a time that emulated ones exceed: tried, they got up to four of a hundred
# tokens too few, and none too many.
# shellcheck disable=SC2046
tests=$(scripts/phpt.sh $(grep -L 'new Server' php-tests/0[1-59]*/*.phpt | grep -v -e /shm_permits -e /compound_innocents -e /servers_sliding_window_race -e /servers_strict_count)) || { echo "$tests"; exit 1; }
echo "$tests"
php -n -r 'echo "PHP ", PHP_VERSION, "\n";'
echo "ARM64 under qemu: the Rust tests, and of phpt $(echo "$tests" | tail -n 1)"
