#!/bin/sh
# Fuzzes each target for some seconds, as many targets at once as there are cores: from the inputs in fuzz/corpus.tar
# and those of earlier runs, which target/fuzz keeps. With SEED= it starts from fuzz/corpus.tar alone and repeats a run,
# as far as the time allows.
# Usage: fuzz.sh SECONDS [TARGET]...
#        fuzz.sh build                  only builds
#        fuzz.sh keep TARGET FILE...    adds inputs to fuzz/corpus.tar
set -eu
cd "$(dirname "$0")/.."

inputs=target/fuzz/inputs
rm -rf "$inputs"
mkdir -p "$inputs"
tar -xf fuzz/corpus.tar -C "$inputs"
if [ "$1" = keep ]; then
    mkdir -p "$inputs/$2"
    into=$inputs/$2
    shift 2
    for file; do cp "$file" "$into/$(sha1sum <"$file" | cut -d ' ' -f 1)"; done
    # The same bytes for the same inputs.
    tar --sort=name --owner=0 --group=0 --numeric-owner --mode=a=rX,u+w --mtime=@0 -cf fuzz/corpus.tar -C "$inputs" .
    exit
fi

seconds=$1
shift
[ $# -gt 0 ] || set -- $(sed -n 's/^path = "fuzz_targets\/\(.*\)\.rs"/\1/p' fuzz/Cargo.toml)

# What needs a nightly compiler, this variable allows the stable one.
export RUSTC_BOOTSTRAP=1
host=$(rustc -vV | sed -n 's/^host: //p')
FUZZ_FOLDER=target/fuzz
FUZZ_PROGRAMS=$FUZZ_FOLDER/$host/fuzz
FUZZ_INPUTS=$inputs
export FUZZ_FOLDER FUZZ_PROGRAMS FUZZ_INPUTS
mkdir -p "$FUZZ_FOLDER"
cargo fetch --quiet --locked
echo "Building"
# Without a target cargo builds all of them side by side.
if [ $# = 1 ]; then target="--bin $1"; else target=--bins; fi
# AddressSanitizer, and what libFuzzer learns from: each branch, and what is compared. As cargo-fuzz has it.
coverage="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters
    -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares
    -Cllvm-args=-sanitizer-coverage-stack-depth -Cllvm-args=-simplifycfg-branch-fold-threshold=0"
# With --target, programs of the build have none of that.
# shellcheck disable=SC2086
RUSTFLAGS="--cfg fuzzing -Zsanitizer=address $(echo $coverage)" ASAN_OPTIONS=detect_odr_violation=0 \
    cargo build --locked --profile fuzz --package token_bucket-fuzz $target --target "$host" --target-dir "$FUZZ_FOLDER" \
    >"$FUZZ_FOLDER/build.log" 2>&1 || { cat "$FUZZ_FOLDER/build.log" >&2; exit 1; }
[ "$seconds" != build ] || exit 0

# The folder for the files that the stores make in shared memory.
TOKEN_BUCKET_FUZZ=$(mktemp -d /dev/shm/token_bucket-fuzz.XXXXXX)
export TOKEN_BUCKET_FUZZ
trap 'rm -rf "$TOKEN_BUCKET_FUZZ"' EXIT
trap 'exit 130' INT TERM

printf '%-18s %10s %8s %9s %11s  %s\n' target runs "a second" coverage "new inputs" result
if printf '%s\n' "$@" | xargs -P "$(nproc)" -I TARGET scripts/fuzz/target.sh TARGET "$seconds"; then
    echo "Fuzzing passed"
else
    echo "Fuzzing failed"
    exit 1
fi
