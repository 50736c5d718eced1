#!/bin/sh
# Copies the built extension into PHP's extension folder and enables it, for the php on the PATH or PHP=. The command
# and what belongs to it go below /usr/local.
set -eu
cd "$(dirname "$0")/.."

. scripts/setup/php.sh
. scripts/setup/places.sh
. scripts/setup/copy.sh
$as_root install -m 644 target/release/libtoken_bucket.so "$extension"

if [ -d bin ]; then
    # An older version's files must not stay beside the new ones.
    $as_root rm -rf "$shared"
    copy_folder share "$shared"
    # man finds no page in $shared.
    $as_root rm -r "$shared/man"
    copy_folder share/man "$manual"
    copy_commands "$commands" "$("$php" -n -r 'echo PHP_BINARY;')"
fi

if [ -n "$ini" ]; then
    if [ ! -e "$ini" ]; then
        $as_root install -m 644 token_bucket.ini "$ini"
    elif ! cmp -s token_bucket.ini "$ini"; then
        echo "Kept $ini as it is; the directives of this version are in $PWD/token_bucket.ini"
    fi
    $as_root phpenmod -v "$php_version" token_bucket
    echo "Installed; restart php-fpm: systemctl restart php$php_version-fpm"
else
    echo "Installed $extension; add extension=token_bucket to php.ini and restart php-fpm"
fi
