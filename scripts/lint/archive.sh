#!/bin/sh
# Checks the archive of a tag, as .gitattributes makes it: small, and complete enough to be built and installed.
set -eu
cd "$(dirname "$0")/../.."

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# With what is not committed yet.
tree=$(GIT_INDEX_FILE=$folder/index sh -c 'git add --all && git write-tree')
mkdir "$folder/archive"
git archive "$tree" | tar -x -C "$folder/archive"
bytes=$(git archive --format=tar.gz "$tree" | wc -c)
[ "$bytes" -le 900000 ] || { echo "The archive of a tag would have $bytes bytes: name in .gitattributes what no one needs to build or install"; exit 1; }

cd "$folder/archive"
# What installs it and what belongs to it; packaging/try-install.sh builds and installs from the same archive.
for file in composer.json Makefile LICENSE token_bucket.ini packaging/pie/config.m4 packaging/package.sh scripts/build.sh scripts/install.sh \
    scripts/uninstall.sh bin/token-bucket share/status.php share/status/style.css stubs/TokenBucket.php examples/login.php docs/install.md; do
    [ -e "$file" ] || { echo "The archive of a tag would have no $file"; exit 1; }
done
# A member of the workspace that is missing stops every build, as does a target whose file is missing and not named in its Cargo.toml:
# also one that asks for a target that is not there.
found=$(cargo build --locked --offline --bin none 2>&1) || true
echo "$found" | grep -q 'no bin target' || { echo "$found"; echo "The archive of a tag could not be built"; exit 1; }
