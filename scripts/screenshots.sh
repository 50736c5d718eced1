#!/bin/sh
# Takes the screenshots of the status page in docs/images, in Chromium, from calls of made-up clients.
# EXTENSION= names another build of the extension.
set -eu
cd "$(dirname "$0")/.."
. scripts/setup/php.sh
. scripts/servers/fpm.sh
. scripts/servers/chromium.sh
. tests/page/serve.sh

folder=$(mktemp -d /tmp/token_bucket-page.XXXXXX)
chmod 755 "$folder"
trap 'chromium_stop; fpm_stop; rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM

serve_pages "$folder"
chromium_start "$folder"
export CHROMIUM_DRIVER="$chromium_url"
mkdir -p docs/images
"$php" -n tests/page/screenshots.php docs/images
ls -l docs/images/status-*.png
