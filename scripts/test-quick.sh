#!/bin/sh
# The tests for the edit loop, without servers: the library's own, conformance of the stores in this process, and
# the phpt files that need no server and no php-fpm. With the development build, which takes a fraction of the
# release's time.
set -eu
cd "$(dirname "$0")/.."
. scripts/test/steps.sh

export EXTENSION="$PWD/target/debug/libtoken_bucket.so"

step "Build" cargo build --locked --quiet
[ ! -s "$steps/failed" ] || exit 1
step "Rust: the library" cargo test --locked --quiet --lib --test shared_memory --test slot_words
step "Rust: the stores in this process" cargo test --locked --quiet --test conformance --test permits -- array:: shared_memory::
step "PHP: classes, directives, errors, reflection, stores in this process" \
    scripts/phpt.sh php-tests/01_class php-tests/03_ini php-tests/04_errors php-tests/05_reflection php-tests/09_statistics \
    $(grep -L -e servers.inc -e pdo.inc -e fpm.inc php-tests/02_storages/*.phpt)
end_steps "The quick tests passed; make test runs all."
