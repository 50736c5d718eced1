#!/bin/sh
# Copies the extension that was built into PHP's extension folder and enables it.
set -eu
cd "$(dirname "$0")/.."

if [ "$(id -u)" = 0 ]; then as_root=; else as_root=sudo; fi
folder=$(php-config --extension-dir)
$as_root install -m 644 target/release/libtoken_bucket.so "$folder/token_bucket.so"

# Debian keeps a file for each extension and links it into the SAPIs'.
version=$(php -n -r 'echo PHP_MAJOR_VERSION, ".", PHP_MINOR_VERSION;')
if [ -d "/etc/php/$version/mods-available" ]; then
    $as_root install -m 644 token_bucket.ini "/etc/php/$version/mods-available/token_bucket.ini"
    $as_root phpenmod -v "$version" token_bucket
    echo "Installed; restart php-fpm: systemctl restart php$version-fpm"
else
    echo "Installed $folder/token_bucket.so; add extension=token_bucket to php.ini and restart php-fpm"
fi
