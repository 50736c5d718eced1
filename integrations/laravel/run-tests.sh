#!/bin/sh
# Tests the package with the Laravel, PHPUnit, Composer and Redis that are installed, in an application of its own below /tmp.
# Usage: run-tests.sh [PHPUnit's options and files]
# EXTENSION= names another build of the extension, PHP= another PHP.
set -eu
cd "$(dirname "$0")"

. ./scripts/application.sh
make_application

[ $# -gt 0 ] || set -- tests
# In the background, so that the end of this script ends the tests.
start "$php" -d token_bucket.test_clock=1 "$(command -v phpunit)" --no-configuration --do-not-cache-result \
    --bootstrap tests/bootstrap.php --log-junit "$work/junit.xml" "$@" >"$work/phpunit.log" 2>&1
status=0
wait "$started" || status=$?

"$php" ../../scripts/test/phpunit_summary.php laravel "$work/junit.xml" || status=1
[ $status = 0 ] || cat "$work/phpunit.log"
exit $status
