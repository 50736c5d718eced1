#!/bin/sh
# Runs within another release of Debian: the tests of packages in integrations/ against its PHP and its frameworks.
# Usage: integrations-inside.sh NAME...
set -eu
cd "$(dirname "$0")/../.."

scripts/setup/packages.sh build
scripts/build.sh
php -n -r 'echo "PHP ", PHP_VERSION, "\n";'
EXTENSION="$CARGO_TARGET_DIR/release/libtoken_bucket.so" scripts/test-integrations.sh "$@"
