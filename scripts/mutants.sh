#!/bin/sh
# Changes the code in one place at a time, runs the Rust tests, and lists the changes that no test notices: in target/mutants.out/missed.txt.
# Without the model checkers, which take minutes, and phpt. About a minute for each change.
# Usage: mutants.sh [FOLDER]...    src/limit, src/store/shm, src/store/swap and src/guard by default, which takes days
# SHARD=0/40 makes the first of forty parts.
set -euf
cd "$(dirname "$0")/.."

[ -n "${TB_SERVERS-}" ] || exec scripts/servers.sh scripts/mutants.sh "$@"

[ $# -gt 0 ] || set -- src/limit src/store/shm src/store/swap src/guard
cargo mutants --version >/dev/null 2>&1 || cargo install --locked --quiet cargo-mutants
files=
for folder in "$@"; do files="$files --file $folder/**/*.rs"; done
# A message may be another, and a test is no code to test.
# shellcheck disable=SC2086
cargo mutants $files --exclude '**/tests.rs' --exclude-re 'impl.*(Debug|Display)' --output target --no-shuffle --timeout 180 ${SHARD:+--shard "$SHARD"} \
    -- --lib --test shared_memory --test slot_words --test permits --test conformance
