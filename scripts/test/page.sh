#!/bin/sh
# Tests share/status.php under a private php-fpm, by hand-made requests and in Chromium. Leaves nothing behind.
# EXTENSION= names another build of the extension.
set -eu
cd "$(dirname "$0")/../.."
. scripts/setup/php.sh
. scripts/servers/fpm.sh
. scripts/servers/chromium.sh

folder=$(mktemp -d /tmp/token_bucket-page.XXXXXX)
chmod 755 "$folder"
trap 'chromium_stop; fpm_stop; rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM

. tests/page/serve.sh
serve_pages "$folder"
passed=0 failed=0 skipped=0
if command -v chromedriver >/dev/null && command -v chromium >/dev/null; then
    chromium_start "$folder"
    export CHROMIUM_DRIVER="$chromium_url"
else
    echo "browser: skipped, there is no chromium or chromedriver"
    skipped=1
fi

for area in guard forms browser; do
    [ "$area" != browser ] || [ "$skipped" = 0 ] || continue
    "$php" -n "tests/page/$area.php" >"$folder/output" 2>&1 || true
    cat "$folder/output"
    result=$(sed -n "s/^$area: \([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p" "$folder/output")
    # A test that broke off is a failure, too.
    # shellcheck disable=SC2086
    set -- ${result:-0 1}
    passed=$((passed + $1)) failed=$((failed + $2))
done

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ] || exit 1
