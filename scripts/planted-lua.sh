#!/bin/sh
# Puts one fault into Redis's scripts on purpose at a time, and runs the tests that compare them with the pure functions. Each has
# to be noticed. In a copy, so that the tree stays as it is. Not part of make test: half a minute each.
# Usage: planted-lua.sh [NUMBER]...    all by default: the lines of tests/planted-lua
set -eu
cd "$(dirname "$0")/.."

[ -n "${TB_SERVERS-}" ] || exec scripts/servers.sh scripts/planted-lua.sh "$@"

. scripts/setup/php.sh
table=tests/planted-lua
[ $# -gt 0 ] || set -- $(seq "$(grep -c . "$table")")
copy=$PWD/target/planted
rm -rf "$copy/tree"
mkdir -p "$copy/tree"
git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents --preserve=timestamps -t "$copy/tree"
missed=
for number; do
    line=$(sed -n "${number}p" "$table")
    # shellcheck disable=SC2016
    "$php" -n -r '[$file, $old, $new] = explode(" | ", $argv[1]);
        $from = "src/store/redis/$file.lua";
        $text = file_get_contents($from);
        substr_count($text, $old) === 1 || exit("$file.lua has this not once: $old\n");
        file_put_contents("$argv[2]/$from", str_replace($old, $new, $text));' "$line" "$copy/tree"
    if (cd "$copy/tree" && CARGO_TARGET_DIR=$copy/target cargo test --locked --quiet --test conformance --test permits redis) >"$copy/output" 2>&1; then
        echo "$number missed: $line"
        missed=1
    else
        # A fault that does not compile, or that no server runs, would be noticed, too.
        grep -q 'test result: FAILED' "$copy/output" || { cat "$copy/output"; exit 1; }
        echo "$number noticed"
    fi
    file=src/store/redis/${line%% *}.lua
    cp "$file" "$copy/tree/$file"
done
rm -rf "$copy/tree"
[ -z "$missed" ]
