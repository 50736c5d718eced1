#!/bin/sh
# Runs PHPUnit on the tests of a package in integrations/. Every PHP that the tests start loads the extension that was
# built, and has tables that end with the run. Prints the failures and the counts.
# Usage: phpunit.sh FOLDER [OPTION]...    FOLDER has a bootstrap.php; the options go to PHPUnit
# PHP= names another PHP, EXTENSION= another build. STAND_IN=1 loads no extension: the bootstrap.php loads the stand-in in plain PHP.
set -eu

folder=$1
shift
root=$(dirname "$0")/../..
. "$root/scripts/setup/php.sh"
extension=$(realpath "${EXTENSION:-$root/target/release/libtoken_bucket.so}")
work=$(mktemp -d /dev/shm/token_bucket-phpunit.XXXXXX)
chmod 755 "$work"
session=
clean_up() {
    # The servers that the tests have started are in PHPUnit's session.
    [ -z "$session" ] || pkill -KILL -s "$session" || true
    rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

# The machine's own settings, without a token_bucket that is installed.
mkdir -m 755 "$work/ini"
mkdir -m 1777 "$work/tables"
for file in "$("$php" -r 'echo PHP_CONFIG_FILE_SCAN_DIR;')"/*.ini; do
    case "$file" in *token_bucket.ini | */\*.ini) ;; *) ln -s "$file" "$work/ini/" ;; esac
done
cat >"$work/ini/99-token_bucket.ini" <<INI
${STAND_IN:+;}extension = $extension
token_bucket.shm_path = $work/tables
token_bucket.test_clock = 1
INI
export PHP_INI_SCAN_DIR="$work/ini"
[ -n "${STAND_IN-}" ] || "$php" -r 'exit((int) !extension_loaded("token_bucket"));' >"$work/output" 2>&1 ||
    { cat "$work/output"; echo "PHP cannot load $extension"; exit 1; }

status=0
setsid "$php" "$(command -v phpunit)" --no-configuration --bootstrap "$folder/bootstrap.php" --do-not-cache-result \
    --fail-on-warning --fail-on-risky --log-junit "$work/results.xml" "$@" "$folder" >"$work/output" 2>&1 &
session=$!
wait "$session" || status=$?

[ $status = 0 ] || cat "$work/output"
[ -e "$work/results.xml" ] || { echo "PHPUnit wrote no results"; exit 1; }
# As DIR/integrations/NAME/tests.
package=$(basename "$(dirname "$(realpath "$folder")")")
"$php" "$root/scripts/test/phpunit_summary.php" "$package" "$work/results.xml" || status=1
exit $status
