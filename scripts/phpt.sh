#!/bin/sh
# Runs phpt files, all of them unless some are named, with the extension that was built; another PHP
# by PHP=, another build by EXTENSION=.
# Usage: phpt.sh [-m] [FILE|FOLDER]...    -m: under valgrind
set -eu
cd "$(dirname "$0")/.."

. scripts/setup/php.sh
extension=${EXTENSION:-$PWD/target/release/libtoken_bucket.so}
# Where PHP's own installation keeps the runner, and where Debian does; --phpapi is Debian's.
run_tests=$("$php_config" --prefix)/lib/php/build/run-tests.php
[ -e "$run_tests" ] || run_tests=/usr/lib/php/$("$php_config" --phpapi)/build/run-tests.php
valgrind=
if [ "${1-}" = -m ]; then
    valgrind=-m
    shift
    # Valgrind takes what ring's assembly has written for never written: TCP in the place of TLS.
    export TB_REDIS_TLS="${TB_REDIS-}" TB_MARIADB_TLS="${TB_MARIADB-}" TB_MYSQL_TLS="${TB_MYSQL-}"
fi
[ $# -gt 0 ] || set -- php-tests

# Tables of their own, so that no test sees what an earlier run left. And the runner's own copy:
# it writes beside itself.
tables=$(mktemp -d /dev/shm/token_bucket-test.XXXXXX)
trap 'rm -rf "$tables"' EXIT INT TERM
cp "$run_tests" "$tables/"
run_tests=$tables/run-tests.php

# A test may be silent for longer than a minute, which is what one takes.
status=0
TEST_TIMEOUT=${TEST_TIMEOUT:-180} NO_INTERACTION=1 REPORT_EXIT_STATUS=1 TEST_PHP_EXECUTABLE=$php TEST_PHP_ARGS="-n" \
    "$php" -n "$run_tests" -n -q --no-color $valgrind --show-diff -j"$(nproc)" \
    -d extension="$extension" -d token_bucket.shm_path="$tables" "$@" >"$tables/output" 2>&1 || status=$?

# All of it where something is wrong; else what was left out or passed at its second try alone, and
# the count.
[ $status = 0 ] || { cat "$tables/output"; exit $status; }
grep -aoE '(SKIP|WARN) .*' "$tables/output" || true
count() { sed -n "s/^Tests $1 *: *\([0-9]*\).*/\1/p" "$tables/output"; }
# A runner that has run nothing has not passed.
[ "$(count passed)" -gt 0 ] 2>/dev/null || { cat "$tables/output"; echo "No test was run"; exit 1; }
echo "$(count passed) passed, $(count failed) failed, $(count skipped) skipped, $(count warned) at the second try"
