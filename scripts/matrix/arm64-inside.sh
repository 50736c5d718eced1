#!/bin/sh
# Runs the Rust tests and the phpt of classes, stores, directives, errors and reflection that arm64.sh has built. Usage: arm64-inside.sh
set -eu
cd "$(dirname "$0")/../.."

step() { printf '\n== %s\n' "$1"; }

step "Rust"
for program in "$CARGO_TARGET_DIR"/*-*; do
    echo "$(basename "${program%-*}")"
    "$program" --quiet
done

step "PHP"
# Those that start a server themselves need one for this processor.
export EXTENSION="$CARGO_TARGET_DIR/libtoken_bucket.so" TEST_TIMEOUT=900
# shellcheck disable=SC2046
tests=$(scripts/phpt.sh $(grep -L 'new Server' php-tests/0[1-5]*/*.phpt))
echo "$tests"
php -n -r 'echo "PHP ", PHP_VERSION, "\n";'
echo "ARM64 under qemu: the Rust tests, and of phpt $(echo "$tests" | tail -n 1)"
