#!/bin/sh
# Tests the packages in integrations/ against the frameworks of this Debian, with the extension that was built. Prints a
# line for each, one beginning "Not run:" for each class of tests that were skipped, and the total in the last line.
# Usage: test-integrations.sh [NAME]...    all by default, or those of ONLY=NAME,NAME; frameworks: all but the stand-in
# EXTENSION= names another build. FORKY=1 repeats the tests in a tree of Debian testing, with an extension built there;
# FORKY=only runs them there alone.
#
# A package in integrations/NAME has:
#   packages       the Debian packages that its tests need, one a line; packages-forky where Debian testing needs others
#   run-tests.sh   runs its tests with the extension that EXTENSION names; its last line is "N passed, N failed, N skipped".
#                  scripts/test/phpunit.sh FOLDER does that for a folder with a bootstrap.php
#   composer.json  requires ext-token_bucket
#   README.md      begins with the lines to copy
set -eu
cd "$(dirname "$0")/.."

[ "$*" != frameworks ] || set -- $(find integrations -mindepth 2 -maxdepth 2 -name packages -printf '%h\n' | sed 's|.*/||' | grep -vx stand-in | sort)
[ $# -gt 0 ] || set -- $(echo "${ONLY:-$(cd integrations && ls -d -- */)}" | tr ',/' '  ')
for name in "$@"; do
    [ -d "integrations/$name" ] || { echo "There is no integrations/$name: $(cd integrations && ls -d -- */ | tr '/\n' '  ')" >&2; exit 2; }
done

here="$*"
if [ "${FORKY-}" = only ]; then here=; fi
EXTENSION=$(realpath -m "${EXTENSION:-target/release/libtoken_bucket.so}")
[ -z "$here" ] || [ -f "$EXTENSION" ] || { echo "There is no $EXTENSION: run make build, or name another with EXTENSION=" >&2; exit 2; }
export EXTENSION
[ -z "$here" ] || TB_INTEGRATIONS="$here" scripts/setup/packages.sh integrations

log=$(mktemp)
running=
clean_up() {
    # The tests clean up after themselves when they are told to end.
    [ -z "$running" ] || { kill "$running" 2>/dev/null && wait "$running" || true; }
    rm -f "$log"
}
trap clean_up EXIT
trap 'exit 130' INT TERM
passed=0 failed=0 skipped=0 broken=

# Adds the counts in the last line of a log to the totals; false if there are none.
add_counts() {
    counts=$(grep -a -x '[0-9]* passed, [0-9]* failed, [0-9]* skipped' "$log" | tail -n 1)
    [ -n "$counts" ] || return 1
    # shellcheck disable=SC2046
    set -- $(echo "$counts" | tr -dc '0-9 ')
    passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
    # Of a package whose tests were all skipped, nothing is known.
    [ "$1" -gt 0 ] && [ "$2" = 0 ]
}
# Tells of tests that failed, also of those that ended before they could count.
tell_failure() {
    tail -n 100 "$log"
    broken="$broken $1"
    [ "$failed" -gt "$failed_before" ] || failed=$((failed + 1))
}

for name in $here; do
    begun=$(date +%s) failed_before=$failed status=0 counts=
    timeout --kill-after=10 1200 "integrations/$name/run-tests.sh" >"$log" 2>&1 &
    running=$!
    wait "$running" || status=$?
    running=
    [ $status != 124 ] || echo "Not finished after 20 minutes" >>"$log"
    add_counts && [ $status = 0 ] || tell_failure "$name"
    grep -a '^Not run: ' "$log" || true
    printf '%-10s %s (%d s)\n' "$name" "${counts:-no counts}" $(($(date +%s) - begun))
done

# A mirror that lacks something today is no fault of the packages.
if [ -n "${FORKY-}" ] && ! { scripts/setup/packages.sh forky &&
    scripts/matrix/debian.sh forky sh -c 'scripts/setup/packages.sh build && TB_INTEGRATIONS="$*" scripts/setup/packages.sh integrations' sh "$@"; } >"$log" 2>&1; then
    tail -n 20 "$log"
    echo "Not run: Debian testing, which could not be installed"
    [ -n "$here" ] || exit 0
elif [ -n "${FORKY-}" ]; then
    echo "Debian testing:"
    failed_before=$failed status=0
    scripts/matrix/debian.sh forky scripts/matrix/integrations-inside.sh "$@" >"$log" 2>&1 &
    running=$!
    wait "$running" || status=$?
    running=
    if add_counts && [ $status = 0 ]; then sed '$d' "$log"; else tell_failure "Debian testing"; fi
fi

[ -z "$broken" ] || printf 'Failed:%s\n' "$broken"
echo "$passed passed, $failed failed, $skipped skipped"
[ -z "$broken" ]
