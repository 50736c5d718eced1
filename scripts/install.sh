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

if [ -d share ] && [ -d /etc/tmpfiles.d ] && [ ! -e /etc/tmpfiles.d/token-bucket.conf ]; then
    echo "If other users have accounts here, have the tables' folder made at boot: cp $shared/tmpfiles.d/token-bucket.conf /etc/tmpfiles.d/"
fi

if [ -n "$ini" ]; then
    if [ ! -e "$ini" ]; then
        $as_root install -m 644 token_bucket.ini "$ini"
    elif ! cmp -s token_bucket.ini "$ini"; then
        echo "Kept $ini as it is; the directives of this version are in $PWD/token_bucket.ini"
    fi
    $as_root phpenmod -v "$php_version" token_bucket
    enabled=$(for found in "/etc/php/$php_version"/*/conf.d/*-token_bucket.ini; do basename "${found%/conf.d/*}"; done | tr '\n' ' ')
    echo "Installed, and enabled for: ${enabled}(for a SAPI that is installed later: phpenmod -v $php_version token_bucket)"
    case " $enabled" in *" fpm "*) echo "Restart php-fpm: systemctl restart php$php_version-fpm" ;; esac
    echo "Replace $extension by make install, never by cp: that kills running workers"
else
    echo "Installed $extension; add extension=token_bucket to php.ini and restart php-fpm"
fi
