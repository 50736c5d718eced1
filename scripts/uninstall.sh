#!/bin/sh
# Disables the extension and removes the files that install.sh copied; an edited token_bucket.ini stays.
set -eu
cd "$(dirname "$0")/.."

if [ "$(id -u)" = 0 ]; then as_root=; else as_root=sudo; fi
. scripts/setup/php.sh
folder=$("$php" -n -r 'echo PHP_EXTENSION_DIR;')
ini=/etc/php/$php_version/mods-available/token_bucket.ini
if [ "${folder#/usr/lib/php/}" != "$folder" ] && [ -e "$ini" ]; then
    $as_root phpdismod -v "$php_version" token_bucket
    # phpdismod records the administrator's choice, which would keep a later install disabled.
    $as_root find "/var/lib/php/modules/$php_version" -type f -name token_bucket -delete
    if cmp -s token_bucket.ini "$ini"; then $as_root rm -f "$ini"; else echo "Kept $ini, which was edited"; fi
fi
$as_root rm -f "$folder/token_bucket.so"
echo "Uninstalled; restart php-fpm"
