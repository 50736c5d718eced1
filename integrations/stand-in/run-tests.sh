#!/bin/bash
# Judges the stand-in by the extension that EXTENSION names: the same surface, the same answers to random calls, the vectors, the tests
# of the extension, and 1,000 kills. What cannot pass is in tests/cannot.txt, with its reason.
# LONG=1 adds more random calls, the strict counts, and all tests of the packages for frameworks: four minutes.
set -eu
cd "$(dirname "$0")/../.."
here=integrations/stand-in

. scripts/setup/php.sh
EXTENSION=$(realpath "${EXTENSION:-target/release/libtoken_bucket.so}")
folder=$(mktemp -d /dev/shm/token_bucket-stand-in.XXXXXX)
trap 'rm -rf "$folder"' EXIT
passed=0 failed=0

# Counts the outcome of a check, and prints its name and what it has printed if it failed.
note_result() {
    if [ "$2" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAILED: $1"; tail -n 40 "$folder/output"; fi
}
options="-n -d token_bucket.test_clock=1 -d token_bucket.warn_of_mistakes=0 -d token_bucket.shm_path=$folder -d error_log=$folder/log"
# shellcheck disable=SC2086,SC2154
with_extension() { "$php" $options -d extension="$EXTENSION" "$@"; }
# shellcheck disable=SC2086
with_stand_in() { "$php" $options -d auto_prepend_file="$here/stand-in.php" "$@"; }
# Whether a script prints the same with both.
same() {
    with_extension "$@" >"$folder/extension" 2>&1 || true
    with_stand_in "$@" >"$folder/stand-in" 2>&1 || true
    diff "$folder/extension" "$folder/stand-in" >"$folder/output" 2>&1 && [ -s "$folder/extension" ]
}

status=0; same $here/tests/surface.php || status=1
note_result "the surface" $status
for seed in $(seq 1 "${LONG:+9}9"); do
    for dsn in array: shm:; do
        status=0; same -d token_bucket.storage=$dsn -d token_bucket.limits="$PWD/$here/tests/limits.ini" $here/tests/sequences.php "$seed" 500 $dsn || status=1
        note_result "sequence $seed on $dsn" $status
        rm -rf "$folder"/token_bucket*
    done
done
status=0; with_stand_in $here/tests/vectors.php >"$folder/output" 2>&1 || status=1
note_result "the vectors" $status
status=0; with_stand_in -d extension=posix $here/tests/kills.php 1000 >"$folder/output" 2>&1 || status=1
note_result "1,000 kills" $status

# Does a script of tests/ succeed?
# Usage: right WHAT FILE [OPTION OF PHP]... -- [ARGUMENT]...
right() {
    what=$1 file=$2 status=0
    shift 2
    local given=()
    while [ $# -gt 0 ] && [ "$1" != -- ]; do given+=("$1"); shift; done
    shift
    with_stand_in "${given[@]}" "$here/tests/$file" "$@" >"$folder/output" 2>&1 || status=1
    note_result "$what" $status
}
for version in 1 "1 copy" 2 "2 copy"; do
    # shellcheck disable=SC2086
    status=0; same -d token_bucket.limits="$folder/clients/limits.ini" $here/tests/clients.php "$folder/clients" $version || status=1
    note_result "50,000 clients, version $version" $status
done
# shellcheck disable=SC2046
right "what is said once" mistakes.php $(load posix) -d token_bucket.warn_of_mistakes=1 -d token_bucket.limits=conf/limits.ini -d log_errors=1 -d error_log="$folder/unasked" --
right "a lock that is held" held.php --
right "no locks" no_locks.php --
for disabled in getmypid,getmyuid,get_current_user,posix_geteuid,php_uname,error_log,ini_get,get_cfg_var,glob,chmod usleep,debug_backtrace,tempnam,fileowner; do
    right "without $disabled" hosting.php -d disable_functions=$disabled -- "$folder"
done
right "without flock, rename" hosting.php -d disable_functions=flock,rename -- "$folder" 'it needs flock(), rename(), which disable_functions'
right "in open_basedir" hosting.php -d open_basedir="$PWD/$here" -- '' 'open_basedir does not allow it; set token_bucket.shm_path to one that it allows, in php.ini or by'
mkdir "$folder/preload"
status=0; $here/tests/preload.sh "$php" "$folder/preload" >"$folder/output" 2>&1 || status=1
note_result "opcache.preload" $status

mkdir "$folder/folders"
status=0; with_stand_in $here/tests/folders.php "$folder/folders" >"$folder/output" 2>&1 || status=1
note_result "folders of others" $status
if [ "$(id -u)" = 0 ]; then
    mkdir "$folder/small"
    # shellcheck disable=SC2016
    status=0; unshare -m sh -c 'mount -t tmpfs -o size=256k none "$1" && shift && "$@"' - "$folder/small" "$php" -n -d error_log="$folder/log" \
        -d token_bucket.shm_path="$folder/small" -d auto_prepend_file="$here/stand-in.php" $here/tests/full.php >"$folder/output" 2>&1 || status=1
    note_result "a full disk" $status
fi

# The tests of the extension that name no store on a server.
servers='servers\.inc|(redis|rediss|memcached|mysql)(\+[a-z]+)?:|mariadb'
tests=$(grep -LiE "$servers" php-tests/01_class/*.phpt php-tests/04_errors/*.phpt)
for name in apart contract contract_bootstrap contract_classes decision_forks php_storage php_storage_error php_storage_fibers \
    shm_block_room shm_killed_processes test_clock test_clock_error ${LONG:+shm_permits_strict compound_strict_count shm_strict_count sliding_window_race}; do
    tests="$tests php-tests/02_storages/$name.phpt"
done
number=$(echo "$tests" | wc -w)
sed -n 's/^\(php-tests\S*\) not run: .*/\1/p' $here/tests/cannot.txt >"$folder/not-run"
tests=$(echo "$tests" | tr ' ' '\n' | grep -vxFf "$folder/not-run")
# shellcheck disable=SC2086
STAND_IN=1 TEST_TIMEOUT=60 scripts/phpt.sh $tests >"$folder/output" 2>&1 || true
sed -n 's/.*FAIL .*\[\(php-tests[^]]*\)\].*/\1/p' "$folder/output" | cat - "$folder/not-run" | sort -u >"$folder/failed"
sed -n 's/^\(php-tests\S*\) .*/\1/p' $here/tests/cannot.txt | sort -u >"$folder/listed"
status=0
comm -23 "$folder/failed" "$folder/listed" | sed 's/^/not listed in tests\/cannot.txt: /' | tee "$folder/wrong" || true
comm -13 "$folder/failed" "$folder/listed" | sed 's/^/passes, though tests\/cannot.txt lists it: /' | tee -a "$folder/wrong" || true
[ ! -s "$folder/wrong" ] && [ "$number" -gt 80 ] || status=1
note_result "the extension's tests" $status
# The packages for frameworks, but for what their tests ask of servers and of a PHP without the extension's classes.
# Usage: package NAME PATTERN [FILE]    PATTERN is of the tests that are left out
package() {
    name=$1 pattern=$2 status=0
    shift 2
    STAND_IN=1 "integrations/$name/run-tests.sh" --filter "/^((?!$pattern).)*\$/" "$@" >"$folder/output" 2>&1 || status=1
    note_result "the tests of integrations/$name" $status
}
# Names what LONG=1 alone runs: what repeats, or takes long.
long() { [ -n "${LONG-}" ] || echo "|$1"; }
package psr15 "ExtensionTest$(long HttpTest)"
package symfony "OutageTest|testMistakes|WithoutTheExtension$(long 'LoginAttack|SameAsSymfony')"
package wordpress "testADryRunCounts|testThePageCounts|testLoginsWorkWithoutTheExtension|testAStoreThatIsDown$(
    long 'Block|CrossSite|Fail2ban|Names|SecondFactor|Settings|Success|Survival')"
[ -z "${LONG-}" ] ||
    package laravel 'Outage|OneRoundTrip|OfOneRedis|ServerThatFails|StorageThatDoesNot|WithoutTheExt|testStatistics|InTheStatistics|testSetOfLimits' tests
echo "$((number - $(wc -l <"$folder/failed"))) of $number of the extension's tests pass"
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
