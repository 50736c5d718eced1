#!/bin/sh
# Tests the package against the Symfony of this Debian, with the extension that was built.
# Usage: run-tests.sh [OPTION OF PHPUNIT]...    EXTENSION= names another build, PHP= another PHP
set -eu
cd "$(dirname "$0")"

php=${PHP:-php}
EXTENSION=${EXTENSION:-$(cd ../.. && pwd)/target/release/libtoken_bucket.so}
[ -e "$EXTENSION" ] || { echo "There is no $EXTENSION: run make build, or name another with EXTENSION=" >&2; exit 1; }
[ -d /usr/share/php/Symfony/Bundle/SecurityBundle ] || { echo "Symfony is missing: install the Debian packages in integrations/symfony/packages" >&2; exit 1; }

# The tables and servers of this run. A server that a killed test leaves behind ends with it.
TABLES=$(mktemp -d /dev/shm/token_bucket-symfony.XXXXXX)
SERVERS=$TABLES/servers
export EXTENSION TABLES SERVERS APP_FOLDER="$TABLES"
: >"$SERVERS"
end() {
    while read -r group; do kill -KILL "-$group" 2>/dev/null || true; done <"$SERVERS"
    rm -rf "$TABLES"
}
trap end EXIT
trap 'exit 130' INT TERM

status=0
"$php" -d extension="$EXTENSION" -d token_bucket.shm_path="$TABLES" -d token_bucket.test_clock=1 -d error_reporting=-1 -d display_errors=1 \
    "$(command -v phpunit)" --no-configuration --bootstrap autoload-debian.php --log-junit "$TABLES/junit.xml" "$@" tests \
    >"$TABLES/output" 2>&1 || status=$?
[ -s "$TABLES/junit.xml" ] || { cat "$TABLES/output"; exit 1; }
[ $status = 0 ] || cat "$TABLES/output"
"$php" tests/summary.php "$TABLES/junit.xml"
exit $status
