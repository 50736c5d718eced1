#!/bin/sh
# Takes the screenshots of the status page in docs/images, in Chromium, from calls of made-up clients.
# EXTENSION= names another build of the extension.
set -eu
cd "$(dirname "$0")/.."
. tests/page/serve.sh

mkdir -p docs/images
"$php" -n tests/page/screenshots.php docs/images
ls -l docs/images/status-*.png
