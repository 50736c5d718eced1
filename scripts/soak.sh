#!/bin/sh
# A php-fpm pool on every store at once, under attack, while servers and workers fail; one table at the
# end. MINUTES= how long (10), SEED= in which order.
set -eu
cd "$(dirname "$0")/.."

# Certificates, and where they are, come with the servers.
[ -n "${TB_SERVERS-}" ] || exec scripts/servers.sh scripts/soak.sh

. scripts/setup/php.sh
posix=
"$php" -n -m | grep -qx posix || posix='-d extension=posix'
# In memory, as they are by default, and apart from those of others.
tables=$(mktemp -d /dev/shm/token_bucket-soak.XXXXXX)
chmod 1777 "$tables"
trap 'rm -rf "$tables"' EXIT INT TERM
# shellcheck disable=SC2086
"$php" -n $posix -d memory_limit=512M -d extension="${EXTENSION:-$PWD/target/release/libtoken_bucket.so}" \
    -d token_bucket.shm_path="$tables" tests/soak/run.php
