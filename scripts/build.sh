#!/bin/sh
# Builds the release of the extension for a PHP and its headers; the options go to cargo.
# Usage: build.sh [OPTION]...
set -eu
cd "$(dirname "$0")/.."
. scripts/setup/php.sh

PHP=$php PHP_CONFIG=$php_config cargo build --release --locked --quiet "$@"
