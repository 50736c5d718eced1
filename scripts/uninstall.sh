#!/bin/sh
# Disables the extension and removes the files that install.sh copied; an edited token_bucket.ini stays.
set -eu
cd "$(dirname "$0")/.."

. scripts/setup/php.sh
. scripts/setup/places.sh
if [ -n "$ini" ] && [ -e "$ini" ]; then
    $as_root phpdismod -v "$php_version" token_bucket
    # phpdismod records the administrator's choice, which would keep a later install disabled.
    $as_root find "/var/lib/php/modules/$php_version" -type f -name token_bucket -delete
    if cmp -s token_bucket.ini "$ini"; then $as_root rm -f "$ini"; else echo "Kept $ini, which was edited"; fi
fi
$as_root rm -f "$extension"
for command in bin/*; do
    $as_root rm -f "$commands/${command#bin/}"
done
for page in share/man/*; do
    $as_root rm -f "$manual/${page##*/}"
done
$as_root rm -rf "$shared"
! cmp -s share/tmpfiles.d/token-bucket.conf /etc/tmpfiles.d/token-bucket.conf || $as_root rm -f /etc/tmpfiles.d/token-bucket.conf
echo "Uninstalled; restart php-fpm"
