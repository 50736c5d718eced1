#!/bin/sh
# Puts one fault into the extension on purpose, builds it and lets the histories find it: one after the other, each patch in
# tests/histories/planted. Its first line says where it shows. In a copy, so that the tree stays as it is. About a minute each.
# Usage: planted-faults.sh [NAME]...    all by default
set -eu
cd "$(dirname "$0")/.."

[ -n "${TB_SERVERS-}" ] || exec scripts/servers.sh scripts/planted-faults.sh "$@"

[ $# -gt 0 ] || set -- $(basename -s .patch tests/histories/planted/*.patch)
copy=$PWD/target/planted
mkdir -p "$copy"
failed=
for name; do
    patch=$PWD/tests/histories/planted/$name.patch
    rm -rf "$copy/tree"
    mkdir "$copy/tree"
    git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents --preserve=timestamps -t "$copy/tree"
    patch --quiet --strip 1 --directory "$copy/tree" <"$patch"
    (cd "$copy/tree" && CARGO_TARGET_DIR=$copy/target cargo build --locked --quiet)
    printf '%-34s' "$name"
    # shellcheck disable=SC2046
    PLANTED=1 EXTENSION=$copy/target/debug/libtoken_bucket.so SECONDS_EACH=${SECONDS_EACH:-20} \
        scripts/histories.sh found_out $(sed -n '1s/^# //p' "$patch") || failed=1
done
rm -rf "$copy/tree"
[ -z "$failed" ]
