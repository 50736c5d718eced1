#!/bin/sh
# Runs the tests of the package against the Symfony of this Debian, with its PHPUnit. EXTENSION= names another build.
# Usage: run-tests.sh [OPTION OF PHPUNIT]...
set -eu
cd "$(dirname "$0")"

../../scripts/test/phpunit.sh tests "$@"
