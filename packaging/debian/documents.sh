#!/bin/sh
# Copies the documents of an archive, and what its users read or run in place, into the tree of a Debian package. Links between
# both folders make each look as the repository does: so the links in the documents lead somewhere.
# Usage: documents.sh CONTENT ROOT PACKAGE    CONTENT has what ../documents.sh has made
set -eu
cd "$(dirname "$0")/../.."

. scripts/setup/copy.sh
content=$1 root=$2 package=$3
documents=$root/usr/share/doc/$package
shared=$root/usr/share/token-bucket
mkdir -p "$documents" "$shared"
for part in docs examples; do
    copy_folder "$content/$part" "$documents/$part"
done
install -m 644 "$content/README.md" "$content/SECURITY.md" "$content/CHANGELOG.md" "$documents/"
for part in integrations stubs; do
    copy_folder "$content/$part" "$shared/$part"
done
copy_folder "$content/share" "$shared"
mv "$shared/limits.ini" "$documents/examples/"
ln -s "../doc/$package/examples/limits.ini" "$shared/limits.ini"
for part in docs examples README.md SECURITY.md CHANGELOG.md; do
    ln -s "../doc/$package/$part" "$shared/$part"
done
for part in integrations stubs; do
    ln -s "../../token-bucket/$part" "$documents/$part"
done
ln -s ../../token-bucket "$documents/share"
