#!/bin/bash
# Runs the stand-in on PHPs that Debian does not have, built for WebAssembly: npm's @php-wasm/cli, which needs Node.js 20.
# On each the vectors must hold, and random calls must get the answers that the extension gives here. These PHPs start no other process, so
# the tests of several processes are not run.
# Usage: stand-in.sh EXTENSION [VERSION]...    8.1, 8.3, 8.4 and 8.5 by default
set -eu
cd "$(dirname "$0")/../.."
. scripts/setup/php.sh
extension=$(realpath "$1")
shift
[ $# -gt 0 ] || set -- 8.1 8.3 8.4 8.5
stand_in=$PWD/integrations/stand-in
programs=$PWD/target/matrix/php-wasm
[ -x "$programs/node_modules/.bin/php-wasm-cli" ] || npm install --silent --no-fund --no-audit --prefix "$programs" @php-wasm/cli@3.1.56 >&2
# These PHPs have a /dev of their own.
folder=$(mktemp -d /tmp/token_bucket-stand-in.XXXXXX)
trap 'rm -rf "$folder"' EXIT
options="-n -d token_bucket.test_clock=1 -d token_bucket.warn_of_mistakes=0 -d token_bucket.shm_path=$folder/shm -d error_log=$folder/log
    -d token_bucket.limits=$stand_in/tests/limits.ini"

# Usage: answers DSN SEED PHP OPTION...    prints what 500 random calls get
answers() {
    dsn=$1 seed=$2
    shift 2
    rm -rf "$folder/shm"
    mkdir "$folder/shm"
    # shellcheck disable=SC2086
    "$@" $options -d token_bucket.storage="$dsn" "$stand_in/tests/sequences.php" "$seed" 500 "$dsn" 2>&1
}
for dsn in array: shm:; do
    for seed in 1 2 3; do answers $dsn $seed "$php" -d extension="$extension" >"$folder/extension.$dsn$seed"; done
done
passed=0 failed=0
for version in "$@"; do
    export PHP="$version"
    with_stand_in="$programs/node_modules/.bin/php-wasm-cli -d auto_prepend_file=$stand_in/stand-in.php"
    # shellcheck disable=SC2086
    rm -rf "$folder/shm" && mkdir "$folder/shm" && vectors=$($with_stand_in $options "$stand_in/tests/vectors.php" 2>&1) || vectors="$vectors: failed"
    wrong=
    for dsn in array: shm:; do
        for seed in 1 2 3; do
            # shellcheck disable=SC2086
            answers $dsn $seed $with_stand_in >"$folder/answers" || true
            cmp -s "$folder/extension.$dsn$seed" "$folder/answers" || wrong="$wrong $dsn$seed"
        done
    done
    if [ -z "$wrong" ] && [[ $vectors == *"steps on array:"* && $vectors == *"steps on shm:"* ]]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "PHP $version: $vectors$wrong" >&2
    fi
done
echo "The stand-in on PHP $*: $passed passed, $failed failed"
[ $failed = 0 ]
