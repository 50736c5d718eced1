#!/bin/sh
# An older version and this one on the same servers at once.
# Usage: fleet.sh COMMIT EXTENSION    within scripts/servers.sh; COMMIT is the older version
set -eu
cd "$(dirname "$0")/../.."

commit=$1
extension=$2
folder=$(mktemp -d /tmp/token_bucket-fleet.XXXXXX)
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM

mkdir "$folder/source"
git archive "$commit" | tar -x -C "$folder/source"
old=$PWD/target/matrix/fleet
(cd "$folder/source" && CARGO_TARGET_DIR=$old scripts/build.sh)
echo "$(git log -1 --format='%h of %cs' "$commit") and this one"
php -n -d extension=posix scripts/matrix/fleet/prove.php "$old/release/libtoken_bucket.so" "$extension" "$folder"
