#!/bin/sh
# Builds the extension for a PHP and its headers, as cargo is told by further options.
# Usage: build.sh [OPTION]...
set -eu
cd "$(dirname "$0")/.."
. scripts/setup/php.sh

PHP=$php PHP_CONFIG=$php_config cargo build --release --locked --quiet "$@"
