#!/bin/sh
# Makes the archive that PIE looks for in a release, and a Debian package, in dist/, for the php on the PATH or PHP=.
# The same commit, compiler and PHP give the same bytes in any folder.
set -eu
cd "$(dirname "$0")/.."

. scripts/setup/php.sh
. scripts/setup/copy.sh
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)
target=$(rustc -vV | sed -n 's/^host: //p')
# On musl a shared library needs a C library that is shared, too, and .cargo/config.toml's flag is glibc's alone.
case $target in
    x86_64-unknown-linux-gnu) platform=x86_64-linux-glibc flags= ;;
    aarch64-unknown-linux-gnu) platform=arm64-linux-glibc flags= ;;
    x86_64-unknown-linux-musl) platform=x86_64-linux-musl flags="'-Ctarget-feature=-crt-static,+cmpxchg16b'," ;;
    aarch64-unknown-linux-musl) platform=arm64-linux-musl flags="'-Ctarget-feature=-crt-static'," ;;
    *) echo "Archives are made on Linux only, not for $target" >&2; exit 1 ;;
esac
# As in PIE's src/Platform/PrePackagedBinaryAssetName.php.
kind=$("$php" -n -r 'echo PHP_DEBUG ? "-debug" : "", PHP_ZTS ? "-zts" : "-nts";')
name=php_token_bucket-${version}_php$php_version-$platform$kind.zip
epoch=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}

# The file contains no path of this machine, and names the crates in it (cargo audit bin reads that).
sysroot=$(rustc --print sysroot)
cargo_home=${CARGO_HOME:-$HOME/.cargo}
PHP=$php PHP_CONFIG=$php_config cargo auditable build --release --locked --quiet --lib --target-dir target/package --config "target.'cfg(all())'.rustflags=[$flags
    '--remap-path-prefix=$sysroot/lib/rustlib/src/rust=/rust',
    '--remap-path-prefix=$cargo_home=/cargo',
    '--remap-path-prefix=$PWD=/token_bucket']"

mkdir -p dist
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT INT TERM
packaging/documents.sh "$folder"
install -m 644 target/package/release/libtoken_bucket.so "$folder/token_bucket.so"
install -m 644 "$sysroot/share/doc/rust/COPYRIGHT-library.html" "$folder/LICENSES-Rust-library.html"
# As cargo-cyclonedx can write it: into the folder of each crate of the workspace, with the project's path in it.
SOURCE_DATE_EPOCH=$epoch cargo cyclonedx --quiet --format json --spec-version 1.5 --no-build-deps --target "$target" --override-filename token_bucket.cdx
sed "s|path+file://$PWD|path+file:///token_bucket|" token_bucket.cdx.json >"$folder/token_bucket.cdx.json"
rm token_bucket.cdx.json src/limit/token_bucket.cdx.json fuzz/token_bucket.cdx.json
"$php" -n packaging/third-party-licenses.php "$target" >"$folder/LICENSES-crates.txt"

if strings "$folder/token_bucket.so" | grep -m 3 -F -e "$PWD" -e "$cargo_home" -e "$sysroot" -e "$HOME/"; then
    echo "token_bucket.so has paths of this machine in it" >&2
    exit 1
fi

find "$folder" -exec touch -d "@$epoch" {} +
archive=$PWD/dist/$name
rm -f "$archive"
# In the order of the names, not of the file system.
(cd "$folder" && find . -type f | LC_ALL=C sort | LC_ALL=C TZ=UTC zip -q -X -9 "$archive" -@)

glibc=$(objdump -T "$folder/token_bucket.so" | grep -o 'GLIBC_[0-9.]*' | sort -u -V | tail -n 1)
echo "dist/$name ($(($(wc -c <"$archive") / 1024)) KiB)${glibc:+, for glibc ${glibc#GLIBC_} or newer}"
packaging/debian/build.sh "$folder" "$epoch"
(cd dist && find . \( -name '*.zip' -o -name '*.deb' \) -printf '%P\n' | LC_ALL=C sort | xargs sha256sum >SHA256SUMS)
