#!/bin/sh
# Tests the extension in fibers of an event loop, Debian testing's Revolt. EXTENSION= names another build of the extension.
set -eu
cd "$(dirname "$0")/../.."

. scripts/setup/php.sh
extension=${EXTENSION:-$PWD/target/release/libtoken_bucket.so}
folder=$(scripts/setup/unpack.sh forky php-revolt-event-loop)
tables=$(mktemp -d /dev/shm/token_bucket-revolt.XXXXXX)
trap 'rm -rf "$tables"' EXIT
trap 'exit 130' INT TERM
# shellcheck disable=SC2046
"$php" -n $(load posix) -d extension="$extension" -d token_bucket.shm_path="$tables" -d display_errors=1 \
    scripts/matrix/runtimes/revolt.php "$folder/usr/share/php"
