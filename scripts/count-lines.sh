#!/bin/sh
# Counts the lines of code in src, without comments, blank lines and tests.
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
