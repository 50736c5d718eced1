#!/bin/sh
# Runs within another release of Debian: the tests of packages in integrations/ against its PHP and its frameworks.
# Usage: integrations-inside.sh NAME...
set -eu
cd "$(dirname "$0")/../.."

scripts/setup/packages.sh build
cargo build --locked --quiet --lib
php -n -r 'echo "PHP ", PHP_VERSION, "\n";'
EXTENSION="$CARGO_TARGET_DIR/debug/libtoken_bucket.so" scripts/test-integrations.sh "$@"
