#!/bin/sh
# Prints the folder of PSR-15's two interfaces. Debian has no package of them alone: they are unpacked from
# ldap-account-manager, which is not installed, and kept.
set -eu

package=ldap-account-manager
cache=${XDG_CACHE_HOME:-$HOME/.cache}/token_bucket
folder=$cache/psr15-interfaces
if [ ! -d "$folder" ]; then
    mkdir -p "$cache"
    new=$(mktemp -d "$folder.XXXXXX")
    trap 'rm -rf "$new"' EXIT
    trap 'exit 130' INT TERM
    (cd "$new" && apt-get -q -o APT::Sandbox::User="$(id -un)" download "$package") >"$new/log" 2>&1 ||
        { tail -n 20 "$new/log" >&2; exit 1; }
    parent=./usr/share/$package/lib/3rdParty/composer/psr
    dpkg-deb --fsys-tarfile "$new"/*.deb |
        tar -x --no-same-owner -C "$new" --strip-components=8 "$parent/http-server-handler" "$parent/http-server-middleware"
    rm "$new"/*.deb "$new/log"
    # Of two runs at once, the first to finish wins.
    mv -T "$new" "$folder" 2>/dev/null || [ -d "$folder" ]
fi
echo "$folder"
