#!/bin/sh
# Checks README: short, and its first screen has the two commands of a newcomer, each on a line of its own, with the demo's table.
# CI runs the second.
set -eu
cd "$(dirname "$0")/../.."

fail() { echo "$1"; exit 1; }
[ "$(wc -l <README.md)" -le 150 ] || fail "README.md has more than 150 lines"
[ "$(wc -w <README.md)" -le 800 ] || fail "README.md has more than 800 words"
first_screen=$(head -n 24 README.md)
for command in demo test; do
    echo "$first_screen" | grep -qE "^    make $command  *# .*the first time" || fail "README.md has no line \"make $command\" among its first 24 that says how long the first time takes"
done
grep -qx 'make test' .ci/run || fail ".ci/run does not run make test"
# The headings, as scripts/demo.sh prints them.
headings=$(sed -n "s/^row \(client .*\)/\1/p" scripts/demo.sh | tr -d '"')
[ -n "$headings" ] && echo "$first_screen" | tr -s ' ' | grep -qxF " $headings" || fail "README.md does not show the table of make demo, whose headings are: $headings"
# Each command that it names is a target.
for target in $(sed -n 's/^    make \([a-z-]*\).*/\1/p' README.md); do
    grep -q "^$target:.* ## " Makefile || fail "README.md names make $target, which the Makefile does not have"
done
