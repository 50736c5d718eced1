#!/bin/sh
# Runs everything there is. Ends with one line that tells how it went.
set -eu
cd "$(dirname "$0")/.."

step() { printf '\n== %s\n' "$1"; }

step "Rust: limits, slots, every store, every interleaving of the slot protocol"
cargo test --locked --quiet 2>&1

step "Build"
make --no-print-directory build

step "PHP: classes, stores, directives, errors, reflection, php-fpm"
REPORT_EXIT_STATUS=1 scripts/phpt.sh

step "PHP under valgrind: memory errors of ours"
# What forks or floods is left out: valgrind runs it for minutes and sees nothing new.
REPORT_EXIT_STATUS=1 scripts/phpt.sh -m \
    php-tests/01_class php-tests/03_ini php-tests/04_errors php-tests/05_reflection

step "Demo"
scripts/demo.sh

printf '\nAll tests passed.\n'
