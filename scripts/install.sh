#!/bin/sh
# Copies the built extension into PHP's extension folder and enables it, for the php on the PATH or PHP=.
set -eu
cd "$(dirname "$0")/.."

if [ "$(id -u)" = 0 ]; then as_root=; else as_root=sudo; fi
. scripts/setup/php.sh
folder=$("$php" -n -r 'echo PHP_EXTENSION_DIR;')
$as_root install -m 644 target/release/libtoken_bucket.so "$folder/token_bucket.so"

# Debian's PHP has an ini file for each extension and links it into each SAPI's folder.
ini=/etc/php/$php_version/mods-available/token_bucket.ini
if [ "${folder#/usr/lib/php/}" != "$folder" ] && [ -d "${ini%/*}" ]; then
    if [ ! -e "$ini" ]; then
        $as_root install -m 644 token_bucket.ini "$ini"
    elif ! cmp -s token_bucket.ini "$ini"; then
        echo "Kept $ini as it is; the directives of this version are in $PWD/token_bucket.ini"
    fi
    $as_root phpenmod -v "$php_version" token_bucket
    echo "Installed; restart php-fpm: systemctl restart php$php_version-fpm"
else
    echo "Installed $folder/token_bucket.so; add extension=token_bucket to php.ini and restart php-fpm"
fi
