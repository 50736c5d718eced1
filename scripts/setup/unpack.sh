#!/bin/sh
# Unpacks packages with all their dependencies into a folder, which it keeps and prints. Nothing is installed:
# scripts/setup/unpacked.sh runs a program from there. The file packages in it names the packages and their versions.
# Usage: unpack.sh RELEASE PACKAGE...    a release of Debian (unstable), or `own` for this machine's
set -eu
cd "$(dirname "$0")/../.."

release=$1
shift
cache=${XDG_CACHE_HOME:-$HOME/.cache}/token_bucket
folder=$cache/$release-$(echo "$*" | tr ' ' '+')
if [ ! -d "$folder" ]; then
    echo "Unpacking $* ($release) in $folder: some seconds, the first time" >&2
    mkdir -p "$cache"
    # Of two runs at once, the first to finish wins.
    new=$(mktemp -d "$folder.XXXXXX")
    trap 'rm -rf "$new"' EXIT
    trap 'exit 130' INT TERM
    apt=$new/apt
    mkdir -p "$apt/lists/partial" "$apt/archives/partial"
    # The list of installed packages is empty, so that apt fetches all dependencies.
    : >"$apt/status"
    sources=
    if [ "$release" != own ]; then
        . scripts/setup/mirror.sh
        echo "deb $mirror $release main" >"$apt/sources.list"
        sources="-o Dir::Etc::sourcelist=$apt/sources.list -o Dir::Etc::sourceparts=/dev/null"
    fi
    fetch() {
        apt-get -qq $sources -o Dir::State="$apt" -o Dir::State::status="$apt/status" -o Dir::Cache="$apt" \
            -o APT::Sandbox::User= -o Debug::NoLocking=1 "$@"
    }
    {
        fetch update
        fetch install -y --no-install-recommends --download-only "$@"
        for package in "$apt"/archives/*.deb; do
            dpkg-deb --fsys-tarfile "$package" | tar -x --keep-directory-symlink --no-same-owner -C "$new" \
                --exclude='./usr/share/doc/*' --exclude='./usr/share/man/*' --exclude='./usr/share/locale/*'
        done
        (cd "$apt/archives" && ls -- *.deb >"$new/packages")
    } >"$new/log" 2>&1 || { tail -n 20 "$new/log" >&2; exit 1; }
    rm -rf "$apt"
    chmod 755 "$new"
    mv -T "$new" "$folder" 2>/dev/null || [ -d "$folder" ]
fi
echo "$folder"
