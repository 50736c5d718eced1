#!/bin/sh
# Tests share/status.php under a private php-fpm, by hand-made requests and in Chromium. Leaves nothing behind.
# EXTENSION= names another build of the extension.
set -eu
cd "$(dirname "$0")/../.."
. tests/page/serve.sh

passed=0 failed=0 skipped=0
for area in guard attention forms browser; do
    if [ "$area" = browser ] && [ -z "${CHROMIUM_DRIVER-}" ]; then
        echo "browser: skipped, there is no chromium or chromedriver"
        skipped=1
        continue
    fi
    "$php" -n "tests/page/$area.php" >"$folder/output" 2>&1 || true
    cat "$folder/output"
    result=$(sed -n "s/^$area  *\([0-9]*\) passed, \([0-9]*\) failed, 0 skipped$/\1 \2/p" "$folder/output")
    # A test that broke off is a failure, too.
    # shellcheck disable=SC2086
    set -- ${result:-0 1}
    passed=$((passed + $1)) failed=$((failed + $2))
done

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ] || exit 1
