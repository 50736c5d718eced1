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
scripts/phpt.sh

step "PHP under valgrind: memory errors of ours"
make --no-print-directory valgrind

step "Demo"
scripts/demo.sh

printf '\nAll tests passed.\n'
