#!/bin/sh
# Fuzzes each target for some seconds: first with what is in fuzz/corpus, then with what libFuzzer makes
# of it. What it finds stays in target/fuzz, and the next run goes on from there; not with SEED=, which
# makes the same of fuzz/corpus each time, as far as the time goes.
# Usage: fuzz.sh SECONDS [TARGET]...
set -eu
cd "$(dirname "$0")/.."

seconds=$1
shift
[ $# -gt 0 ] || set -- $(sed -n 's/^path = "fuzz_targets\/\(.*\)\.rs"/\1/p' fuzz/Cargo.toml)

version=0.13.2
cargo fuzz --version 2>/dev/null | grep -qx "cargo-fuzz $version" || {
    echo "Installing cargo-fuzz $version"
    cargo install --locked --quiet --force cargo-fuzz --version "$version"
}

# cargo-fuzz wants a nightly compiler for its options alone, which the stable one has too.
export RUSTC_BOOTSTRAP=1
host=$(rustc -vV | sed -n 's/^host: //p')
folder=target/fuzz
mkdir -p "$folder"
cargo fetch --quiet --locked --manifest-path fuzz/Cargo.toml
echo "Building"
for target; do
    if ! cargo fuzz build --target-dir "$folder" "$target" >"$folder/build.log" 2>&1; then
        cat "$folder/build.log" >&2
        exit 1
    fi
done

# What the stores make in shared memory.
TOKEN_BUCKET_FUZZ=$(mktemp -d /dev/shm/token_bucket-fuzz.XXXXXX)
export TOKEN_BUCKET_FUZZ
trap 'rm -rf "$TOKEN_BUCKET_FUZZ"' EXIT
trap 'exit 130' INT TERM
row() { printf '%-18s %10s %8s %9s %11s  %s\n' "$@"; }
row target runs "a second" coverage "new inputs" result
status=0
for target; do
    log=$folder/$target.log
    found=$folder/corpus/$target
    [ -z "${SEED-}" ] || found=$TOKEN_BUCKET_FUZZ/corpus/$target
    mkdir -p "$found" "fuzz/corpus/$target"
    result=passed
    # A few more seconds to start and to end in, then it hangs.
    timeout --foreground --kill-after=10 $((seconds + 300)) "$folder/$host/release/$target" "$found" "fuzz/corpus/$target" \
        -seed="${SEED:-0}" -max_total_time="$seconds" -timeout=30 -malloc_limit_mb=32 -rss_limit_mb=1024 -detect_leaks=0 \
        -max_len=2048 -print_final_stats=1 -artifact_prefix="$folder/$target-" >"$log" 2>&1 || { result=FAILED; status=1; }
    stat() { sed -n "s/^stat::$1: *//p" "$log"; }
    coverage=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -n 1)
    row "$target" "$(stat number_of_executed_units)" "$(stat average_exec_per_sec)" "$coverage" "$(stat new_units_added)" "$result"
    if [ $result = FAILED ]; then
        grep -aE '^(thread|.*panicked at|==[0-9]*==|SUMMARY|.*Test unit written)' -A 2 "$log" >&2 || tail -n 20 "$log" >&2
        echo "Again: $folder/$host/release/$target $folder/$target-..." >&2
    fi
done
[ $status = 0 ] && echo "Fuzzing passed" || echo "Fuzzing failed"
exit $status
