#!/bin/sh
# Makes a Debian package of the extension, the command and what belongs to them, in dist/, for the PHP of package.sh.
# Usage: build.sh FOLDER EPOCH    FOLDER has what the archive of a release has; EPOCH is the time of all files
#
# It is a staged tree and dpkg-deb: cargo builds, so debhelper would only copy, and would need dh-php and a source
# package made up for it.
set -eu
cd "$(dirname "$0")/../.."

content=$1 epoch=$2
. scripts/setup/php.sh
. scripts/setup/copy.sh
extensions=$("$php" -n -r 'echo PHP_EXTENSION_DIR;')
# Only Debian's PHPs have phpenmod, and the virtual package phpapi-20220829 for what they can load.
if ! command -v dpkg-deb >/dev/null || [ "${extensions%/*}" != /usr/lib/php ] || [ ! -d "/etc/php/$php_version/mods-available" ]; then
    echo "No Debian package: $php is not a PHP of Debian or Ubuntu"
    exit 0
fi

package=php$php_version-token-bucket
# A pre-release, 1.0.0-rc.1, comes before its release as 1.0.0~rc.1.
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | tr - '~')-1
architecture=$(dpkg --print-architecture)
# The names that Debian's own tools take, or the commit's author.
maintainer="${DEBFULLNAME:-$(git log -1 --format=%an)} <${DEBEMAIL:-$(git log -1 --format=%ae)}>"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
root=$work/root
documents=$root/usr/share/doc/$package
shared=$root/usr/share/token-bucket

compressed() { gzip -9n <"$1" >"$2"; chmod 644 "$2"; }

install -D -m 644 "$content/token_bucket.so" "$root$extensions/token_bucket.so"
install -D -m 644 token_bucket.ini "$root/etc/php/$php_version/mods-available/token_bucket.ini"
packaging/debian/documents.sh "$content" "$root" "$package"
ln -s "/etc/php/$php_version/mods-available/token_bucket.ini" "$documents/token_bucket.ini"
install -D -m 644 packaging/debian/lintian-overrides "$root/usr/share/lintian/overrides/$package"
install -m 644 "$content"/LICENSES-* "$content/token_bucket.cdx.json" "$documents/"
[ ! -d bin ] || copy_commands "$root/usr/bin" "/usr/bin/php$php_version"
# What Debian has a place for goes there; all else is the command's.
mkdir -p "$root/usr/share/man/man1" "$root/usr/share/bash-completion/completions"
for page in "$shared"/man/*.1; do
    compressed "$page" "$root/usr/share/man/man1/${page##*/}.gz"
    rm "$page"
done
[ ! -d "$shared/completion" ] || for completion in "$shared"/completion/*.bash; do
    mv "$completion" "$root/usr/share/bash-completion/completions/$(basename "$completion" .bash)"
done
# Installed, not enabled: an administrator names the limits first (docs/firewall.md).
for unit in "$shared"/firewall/*.service "$shared"/firewall/*.timer; do
    install -D -m 644 "$unit" "$root/usr/lib/systemd/system/${unit##*/}"
    rm "$unit"
done
sed -i 's|/usr/local/share/|/usr/share/|' "$root"/usr/lib/systemd/system/*.service
install -D -m 644 "$shared/tmpfiles.d/token-bucket.conf" "$root/usr/lib/tmpfiles.d/token-bucket.conf"
find "$root" -type d -empty -delete

compressed CHANGELOG.md "$documents/changelog.gz"
cat >"$work/changelog" <<CHANGES
$package ($version) unstable; urgency=medium

  * token_bucket $version; changelog.gz tells what is new.

 -- $maintainer  $(LC_ALL=C date -u -R -d "@$epoch")
CHANGES
compressed "$work/changelog" "$documents/changelog.Debian.gz"
{
    echo "token_bucket is under this license:"
    echo
    cat LICENSE
    echo
    echo "token_bucket.so contains libraries in Rust. LICENSES-crates.txt and LICENSES-Rust-library.html in this"
    echo "folder name their authors and have their licenses."
} >"$documents/copyright"

# dpkg-shlibdeps wants the control file of a source package.
mkdir "$work/debian" "$root/DEBIAN"
printf 'Source: %s\n\nPackage: %s\nArchitecture: any\n' "$package" "$package" >"$work/debian/control"
libraries=$(cd "$work" && dpkg-shlibdeps -O --warnings=0 "root$extensions/token_bucket.so" | sed -n 's/^shlibs:Depends=//p')
[ -n "$libraries" ] || { echo "dpkg-shlibdeps found no library" >&2; exit 1; }
# In KiB, as Debian counts: each file rounded up, a folder as one.
size=$(find "$root" -type f -printf '%s\n' -o -printf '1\n' | awk '{ sum += int(($1 + 1023) / 1024) } END { print sum }')
# Packages for two PHPs have files of the same names, so one of them replaces the other.
cat >"$root/DEBIAN/control" <<CONTROL
Package: $package
Version: $version
Architecture: $architecture
Maintainer: $maintainer
Installed-Size: $size
Depends: php-common (>= 2:69~), php$php_version-common, php$php_version-cli, phpapi-$("$php_config" --phpapi), $libraries
Suggests: nftables
Provides: php-token-bucket
Conflicts: php-token-bucket
Replaces: php-token-bucket
Section: php
Priority: optional
Description: native rate limiter for PHP
 token_bucket limits how often a client may do something: log in, search, send
 a form, call an API. A decision on one limit is one atomic step, so any number
 of workers together get no more than the limit. Limits live in shared memory,
 or on Redis, Valkey, memcached, MariaDB or MySQL.
CONTROL
(cd "$root" && find etc -type f -printf '/%p\n') >"$root/DEBIAN/conffiles"
(cd "$root" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
for script in postinst prerm postrm; do
    sed "s/@PHP_VERSION@/$php_version/g" "packaging/debian/$script" >"$root/DEBIAN/$script"
    chmod 755 "$root/DEBIAN/$script"
done

find "$root" -exec touch -h -d "@$epoch" {} +
mkdir -p dist
file=dist/${package}_${version}_$architecture.deb
# One thread, because the number of threads changes the compressed bytes.
SOURCE_DATE_EPOCH=$epoch dpkg-deb --root-owner-group --threads-max=1 -Zxz --build "$root" "$file" >/dev/null
echo "$file ($(($(wc -c <"$file") / 1024)) KiB), for PHP $php_version, $libraries"
