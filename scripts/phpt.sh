#!/bin/sh
# Runs phpt files, all of them by default, with the extension that was built. Up to five that fail are run once more, alone: what passes
# then depends on the machine's load, and is named in the last lines.
# Usage: phpt.sh [-m] [-s] [FILE|FOLDER]...    -m: under valgrind; -s: lists the ten slowest
# PHP= names another PHP, EXTENSION= another build, JOBS= how many run at once, SEED= what a failed run named. STAND_IN=1 loads the stand-in in plain PHP in the
# extension's place.
set -eu
cd "$(dirname "$0")/.."

. scripts/setup/php.sh
extension=${EXTENSION:-$PWD/target/release/libtoken_bucket.so}
# The runner is where PHP's own installation keeps it, or where Debian does; --phpapi is Debian's option.
run_tests=$("$php_config" --prefix)/lib/php/build/run-tests.php
[ -e "$run_tests" ] || run_tests=/usr/lib/php/$("$php_config" --phpapi)/build/run-tests.php
# More at once than there are cores: most tests wait for servers and time-outs.
jobs=${JOBS:-$(($(nproc) * 3))}
options=
list_slowest=
while :; do
    case "${1-}" in
        -m)
            # PCRE's compiled patterns read whole words, beyond the end of a text.
            options="$options -m -d pcre.jit=0"
            jobs=$(nproc)
            # Valgrind takes what ring's assembly writes for uninitialised, so TCP takes the place of TLS.
            export TB_REDIS_TLS="${TB_REDIS-}" TB_MARIADB_TLS="${TB_MARIADB-}" TB_MYSQL_TLS="${TB_MYSQL-}"
            ;;
        -s)
            options="$options --show-slow 1"
            list_slowest=1
            ;;
        *) break ;;
    esac
    shift
done
tests="${*:-php-tests}"
export SEED=${SEED:-$(($(date +%s) % 1000000))}

# Each run has its own tables, so that no test sees those of an earlier run, and its own copy of the
# runner, which writes beside itself. A worker gets one test at a time, and the last folders come first, whose tests take
# longest: else the other workers have nothing to do in the end. Before 8.6 the runner takes one more than its batch size.
# Folders that others may write to are refused.
umask 022
tables=$(mktemp -d /dev/shm/token_bucket-test.XXXXXX)
trap 'rm -rf "$tables"' EXIT INT TERM
sed 's/\$maxBatchSize = .*/$maxBatchSize = 1;/; s/count(\$files) <= \$batchSize/count($files) < $batchSize/; s/array_reverse(\$test_files)/$test_files/' "$run_tests" >"$tables/run-tests.php"
run_tests=$tables/run-tests.php

set -- -d extension="$extension" -d token_bucket.shm_path="$tables"
if [ -n "${STAND_IN-}" ]; then
    # What it says once must not be taken for a test's output. PHP prepends nothing to the code of -r.
    stand_in=$PWD/integrations/stand-in/stand-in.php
    set -- -d auto_prepend_file="$stand_in" -d error_log="$tables/log" -d token_bucket.shm_path="$tables"
    cat >"$tables/php" <<END
#!/bin/bash
arguments=()
while [ \$# -gt 0 ]; do
    arguments+=("\$1")
    if [ "\$1" = -r ]; then
        arguments+=("require '$stand_in'; \$2")
        shift
    fi
    shift
done
exec -a "$tables/php" "$php" "\${arguments[@]}"
END
    chmod +x "$tables/php"
    php=$tables/php
fi

# run JOBS ARGUMENT...: the runner's own time-out, one minute, is too short for some tests on a busy machine.
run() {
    jobs=$1
    shift
    # shellcheck disable=SC2086
    TEST_TIMEOUT=${TEST_TIMEOUT:-180} NO_INTERACTION=1 REPORT_EXIT_STATUS=1 TEST_PHP_EXECUTABLE=$php TEST_PHP_ARGS="-n" \
        "$php" -n "$run_tests" -n -q --no-color $options --show-diff -j"$jobs" "$@"
}
status=0
# shellcheck disable=SC2086
run "$jobs" -w "$tables/failed" "$@" $tests >"$tables/output" 2>&1 || status=$?

# A failure shows all of the output but the times; a success the skipped tests, those that passed at the second try, and the count.
alone=0
if [ $status != 0 ]; then
    sed '/^SLOW TEST SUMMARY/,/^====/d' "$tables/output"
    echo "Chance had SEED=$SEED"
    alone=$(grep -c . "$tables/failed" || true)
    [ "$alone" -gt 0 ] && [ "$alone" -le 5 ] || exit $status
    echo "Once more, alone:"
    mkdir "$tables/alone"
    # shellcheck disable=SC2046
    run 1 "$@" -d token_bucket.shm_path="$tables/alone" $(cat "$tables/failed") >"$tables/again" 2>&1 || { cat "$tables/again"; exit 1; }
    sed 's/^/Passed alone, at the second try: /' "$tables/failed"
fi
grep -aoE '(SKIP|WARN) .*' "$tables/output" || true
[ -z "$list_slowest" ] || sed -n '/^SLOW TEST SUMMARY/,/^====/p' "$tables/output" | grep -a '^(' | head -n 10
count() { sed -n "s/^Tests $1 *: *\([0-9]*\).*/\1/p" "$tables/output"; }
# A run without a test is a failure.
passed=$(count passed) warned=$(count warned)
[ $((${passed:-0} + ${warned:-0})) -gt 0 ] || { cat "$tables/output"; echo "No test was run"; exit 1; }
echo "$passed passed, 0 failed, $(count skipped) skipped, $((${warned:-0} + alone)) at the second try"
