#!/bin/sh
# Makes the packages of the last commit twice, in folders at different paths, and compares their checksums.
set -eu
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
# One commit for both, even if another is made meanwhile.
commit=$(git rev-parse HEAD)
# Usage: make_in FOLDER
make_in() {
    git clone --quiet . "$1"
    git -C "$1" checkout --quiet --detach "$commit"
    "$1/packaging/package.sh" >"$work/log" 2>&1 || { tail -n 20 "$work/log"; exit 1; }
    rm -rf "$1/target"
    sed "s|^|    |" "$1/dist/SHA256SUMS"
}

echo "In one folder:"
make_in "$work/one"
echo "In another, with another time zone, language and umask:"
(umask 077; export TZ=Asia/Tokyo LC_ALL=C.UTF-8; make_in "$work/another/and/deeper")
cmp "$work/one/dist/SHA256SUMS" "$work/another/and/deeper/dist/SHA256SUMS" || { echo "The packages differ"; exit 1; }
echo "The packages are the same, byte for byte"
