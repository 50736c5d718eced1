#!/bin/sh
# Fails on a link that leads nowhere in the documents of the archive or of the Debian package, as packaging/package.sh makes them.
set -eu
cd "$(dirname "$0")/../.."

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
packaging/documents.sh "$folder/archive"
packaging/debian/documents.sh "$folder/archive" "$folder/root" php-token-bucket
# The package's own, below the PHP that it was made for.
touch "$folder/root/usr/share/doc/php-token-bucket/token_bucket.ini"
for tree in archive root; do
    cd "$folder/$tree"
    pages=$(find . -type f -name '*.md')
    [ "$(echo "$pages" | wc -l)" -gt 20 ] || { echo "There are too few documents in the $tree"; exit 1; }
    # shellcheck disable=SC2086
    php -n "$OLDPWD/scripts/lint/links.php" $pages || { echo "in what packaging/package.sh makes ($tree)"; exit 1; }
    cd "$OLDPWD"
done
