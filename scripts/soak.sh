#!/bin/sh
# Attacks a php-fpm pool on every store at once, while servers and workers fail. Ends with a table and a result.
# MINUTES= sets the length (10), SEED= the order of the faults.
set -eu
cd "$(dirname "$0")/.."

# servers.sh makes the certificates that the soak uses.
[ -n "${TB_SERVERS-}" ] || exec scripts/servers.sh scripts/soak.sh

. scripts/setup/php.sh
posix=
"$php" -n -m | grep -qx posix || posix='-d extension=posix'
# Tables in memory, as by default, in a folder of their own.
tables=$(mktemp -d /dev/shm/token_bucket-soak.XXXXXX)
chmod 1777 "$tables"
trap 'rm -rf "$tables"' EXIT INT TERM
# shellcheck disable=SC2086
"$php" -n $posix -d memory_limit=512M -d extension="${EXTENSION:-$PWD/target/release/libtoken_bucket.so}" \
    -d token_bucket.shm_path="$tables" tests/soak/run.php
