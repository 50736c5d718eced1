#!/bin/sh
# Runs the tests of the package with Debian's PHPUnit, nyholm/psr7 and Slim 3. EXTENSION= names another build.
set -eu
cd "$(dirname "$0")"

TB_PSR15_INTERFACES=$(./interfaces.sh)
export TB_PSR15_INTERFACES
../../scripts/test/phpunit.sh tests "$@"
