#!/bin/sh
# Draws docs/images/*.svg: the plot by the extension's own classes, and each picture for dark pages from the one for light pages,
# which is edited by hand.
# Usage: pictures.sh [--check]    --check draws nothing, and fails if a picture for dark pages is not made from its light one
set -eu
cd "$(dirname "$0")/.."

in_dark_colours() {
    sed 's/#59636e/#9198a1/g; s/#8c959f/#656c76/g; s/#1f2328/#e6edf3/g; s/#ffffff/#151b23/g; s/#1a7f37/#3fb950/g; s/#cf222e/#f85149/g' "$1"
}

if [ "${1-}" = --check ]; then
    for light in docs/images/*-light.svg; do
        case $light in */admitted-*) continue ;; esac
        in_dark_colours "$light" | cmp -s - "${light%-light.svg}-dark.svg" || { echo "${light%-light.svg}-dark.svg is not made from $light: scripts/pictures.sh"; exit 1; }
    done
    exit
fi
command -v gnuplot >/dev/null || { echo "gnuplot is missing: apt-get install gnuplot-nox" >&2; exit 1; }
. scripts/setup/php.sh
for light in docs/images/*-light.svg; do
    in_dark_colours "$light" >"${light%-light.svg}-dark.svg"
done
"$php" -n -d extension="${EXTENSION:-$PWD/target/release/libtoken_bucket.so}" -d token_bucket.test_clock=1 -d token_bucket.shm_path=/nonexistent benches/php/admitted.php
