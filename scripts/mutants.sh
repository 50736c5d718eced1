#!/bin/sh
# Changes the code in one place at a time, and lists the changes that no test notices: in target/mutants.out/missed.txt.
# First by the tests of src alone, built without PHP: seconds each. What they miss is tried again by those on the stores, about a
# minute each: without the model checkers, phpt, and servers that differ only in how they are reached.
# Usage: mutants.sh [FOLDER]...    src/limit, src/store/shm, src/store/swap and src/guard by default: more than a day
set -euf
cd "$(dirname "$0")/.."

[ -n "${TB_SERVERS-}" ] || exec scripts/servers.sh scripts/mutants.sh "$@"

[ $# -gt 0 ] || set -- src/limit src/store/shm src/store/swap src/guard
cargo mutants --version >/dev/null 2>&1 || cargo install --locked --quiet cargo-mutants
files=
for folder in "$@"; do files="$files --file $folder/**/*.rs --file $folder/*.rs"; done
# A message may be another, and a test is no code to test.
mutants() {
    # shellcheck disable=SC2086
    cargo mutants $files --exclude '**/tests.rs' --exclude-re 'impl.*(Debug|Display)' --output target --no-shuffle "$@"
}
rm -rf target/mutants.out
RUSTFLAGS="--cfg fuzzing" mutants --timeout 30 -- --lib || case $? in 2 | 3) ;; *) exit 1 ;; esac # missed, timed out
mutants --iterate --timeout 180 -- --test conformance --test permits --test shared_memory --test slot_words \
    -- --skip mysql --skip _tls --skip _unix --skip cluster --skip sentinel --skip two_memcacheds
