#!/bin/sh
# Runs the tests in Rust, while servers are up. The models of processes compute, in one thread, because threads would
# wait for each other's stacks; meanwhile the conformance of stores waits for servers' replies, in many threads.
set -eu
cd "$(dirname "$0")/../.."

models= others= failed=
for file in tests/*.rs; do
    program=$(basename "$file" .rs)
    if grep -q loom "$file"; then models="$models --test $program"; else others="$others --test $program"; fi
done

output=$(mktemp)
trap 'rm -f "$output"' EXIT
# shellcheck disable=SC2086
RUST_TEST_THREADS=1 cargo test --locked --quiet $models >"$output" 2>&1 &
# shellcheck disable=SC2086
{ RUST_TEST_THREADS=$(($(nproc) * 8)) cargo test --locked --quiet --lib $others 2>&1 && cargo test --locked --quiet --doc 2>&1; } || failed=1
wait $! || failed=1
cat "$output"
[ -z "$failed" ]
