#!/bin/sh
# Copies the documents, the command and what belongs to it into the folder of an archive. Links to what only the repository has
# become text.
# Usage: documents.sh FOLDER
set -eu
cd "$(dirname "$0")/.."

. scripts/setup/php.sh
. scripts/setup/copy.sh
folder=$1
mkdir -p "$folder/docs/benchmarks" "$folder/docs/fleet" "$folder/docs/images"
install -m 644 LICENSE README.md SECURITY.md CHANGELOG.md token_bucket.ini "$folder/"
install -m 644 docs/*.md "$folder/docs/"
install -m 644 docs/images/*.svg "$folder/docs/images/"
install -m 644 docs/benchmarks/* "$folder/docs/benchmarks/"
install -m 644 docs/fleet/* "$folder/docs/fleet/"
for part in bin examples integrations share stubs; do
    copy_folder "$part" "$folder/$part"
done
# What only the tests and benchmarks of the integrations need.
rm -rf "$folder"/integrations/*/tests "$folder"/integrations/*/scripts
find "$folder/integrations" \( -name run-tests.sh -o -name 'packages*' -o -name interfaces.sh \) -delete
"$php" -n packaging/links.php "$folder"
