#!/bin/sh
# Counts the lines of code in src, without comments, blank lines and tests. With --check it fails if there are more than
# scripts/lint/size says, and says by how much that number can be lowered.
set -eu
cd "$(dirname "$0")/.."

# count EXTENSION COMMENT. The tests in a file of code are its last module.
count() {
    awk -v comment="$2" '
        FNR == 1 { in_tests = 0 }
        /^#\[cfg\(test\)\]$/ { in_tests = 1 }
        !in_tests && NF && $1 !~ "^" comment { lines++ }
        END { print lines }
    ' $(find src -name "*.$1" ! -path '*/tests/*' ! -name tests.rs)
}
rust=$(count rs //) lua=$(count lua --)
echo "$rust lines of Rust and $lua of Lua in src, without comments, blank lines and tests"
[ "${1-}" = --check ] || exit 0
lines=$((rust + lua)) most=$(cat scripts/lint/size)
[ "$lines" -le "$most" ] || {
    echo "src has $lines lines of code, at most $most are allowed: take as many away first, or raise scripts/lint/size and say why in the commit"
    exit 1
}
[ "$lines" = "$most" ] || echo "scripts/lint/size can be lowered from $most to $lines"
