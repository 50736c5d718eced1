#!/bin/sh
# Shows that Debian's Prometheus reads the metrics of a private php-fpm, that the numbers are right, and that the
# dashboard and the alerts of share/ use them. EXTENSION= names another build.
set -eu
cd "$(dirname "$0")/../.."
. scripts/setup/php.sh
. scripts/servers/fpm.sh

command -v prometheus promtool >/dev/null || { echo "There is no Prometheus: scripts/setup/packages.sh test installs it" >&2; exit 1; }
EXTENSION=${EXTENSION:-$PWD/target/release/libtoken_bucket.so}
[ -e "$EXTENSION" ] || { echo "There is no $EXTENSION: make build makes one" >&2; exit 1; }
folder=$(mktemp -d /tmp/token_bucket-prometheus.XXXXXX)
chmod 755 "$folder"
trap 'fpm_stop; rm -rf "$folder"' EXIT
trap 'exit 1' INT TERM

cp -r tests/prometheus/pages "$folder/pages"
printf '[api]\nlimit = 10\ninterval = 60\n' >"$folder/limits.ini"
chmod -R a+rX "$folder"
# A small table, so that a flood fills it.
fpm_directives="php_admin_value[token_bucket.shm_size] = 64K
php_admin_value[token_bucket.limits] = $folder/limits.ini"
fpm_start "$folder" "$folder/pages"
mkdir "$folder/prometheus"
posix=
"$php" -n -m | grep -qx posix || posix='-d extension=posix'
# shellcheck disable=SC2086
"$php" -n $posix tests/prometheus/run.php "$folder" "127.0.0.1:$fpm_port"
