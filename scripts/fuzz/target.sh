#!/bin/sh
# Runs one target, which fuzz.sh has built, and prints its row of the table.
# Usage: target.sh TARGET SECONDS
set -eu

target=$1 seconds=$2
log=$FUZZ_FOLDER/$target.log
found=$FUZZ_FOLDER/corpus/$target
[ -z "${SEED-}" ] || found=$TOKEN_BUCKET_FUZZ/corpus/$target
mkdir -p "$found" "$FUZZ_INPUTS/$target"
# The start and the end take some time of their own; a target that takes 300 s more hangs.
fuzz() {
    timeout --foreground --kill-after=10 $((seconds + 300)) "$FUZZ_PROGRAMS/$target" "$@" -timeout=30 -malloc_limit_mb=32 \
        -rss_limit_mb=1024 -detect_leaks=0 -artifact_prefix="$FUZZ_FOLDER/$target-" >>"$log" 2>&1
}
: >"$log"
result=passed
fuzz "$found" "$FUZZ_INPUTS/$target" -seed="${SEED:-0}" -max_total_time="$seconds" -max_len=2048 -print_final_stats=1 ||
    result=FAILED
# A run that takes 30 s stands still with the machine, unless it does so again.
input=$(sed -n 's/.*Test unit written to //p' "$log" | head -n 1)
case $input in
*-timeout-*)
    if fuzz "$input" -runs=10; then
        result="passed, but for 30 s in which one run stood still, and ten repeats did not"
    fi
    ;;
esac
stat() { sed -n "s/^stat::$1: *//p" "$log"; }
coverage=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -n 1)
printf '%-18s %10s %8s %9s %11s  %s\n' "$target" "$(stat number_of_executed_units)" "$(stat average_exec_per_sec)" "$coverage" \
    "$(stat new_units_added)" "$result"
[ "$result" != passed ] || exit 0
{
    grep -aE '^(thread|.*panicked at|==[0-9]*==|SUMMARY|.*Test unit written)' -A 2 "$log" || tail -n 20 "$log"
    # Where it was: the calls of this project.
    grep -aE '^ *#[0-9]+ .*(/src/|fuzz_targets/)' "$log" | grep -av '/\.cargo/\|/rustc/' | head -n 15
    [ ! -e "$input" ] || echo "To repeat: $FUZZ_PROGRAMS/$target $input, in base64: $(base64 -w 0 "$input")"
} >&2
[ "$result" != FAILED ]
