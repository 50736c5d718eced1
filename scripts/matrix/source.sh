#!/bin/sh
# Builds this release's PHP from Debian's source package as a debug build, and prints its folder, which is kept until
# the machine has another version of PHP.
# Usage: source.sh nts|zts|embed|musl
set -eu
cd "$(dirname "$0")/../.."

case "$1" in
    nts) options= ;;
    # Apache runs threads that share a process.
    zts) options="--enable-zts --with-apxs2=$(command -v apxs) --enable-opcache --disable-opcache-jit" ;;
    # As FrankenPHP's documentation has it.
    embed) options="--enable-zts --enable-embed --disable-zend-signals --enable-zend-max-execution-timers --enable-opcache
        --disable-opcache-jit" ;;
    # Alpine's C library. Debian has no SQLite for it.
    musl) options="--without-pdo-sqlite --without-valgrind --disable-mysqlnd-compression-support CC=musl-gcc" ;;
    *) echo "usage: $0 nts|zts|embed|musl" >&2; exit 2 ;;
esac
# The extensions that the tests use.
options="--enable-debug --disable-all --enable-fpm --disable-cgi --disable-phpdbg --without-pear
    --enable-pcntl --enable-posix --enable-tokenizer --enable-session --enable-filter --enable-mysqlnd --with-mysqli --enable-pdo --with-pdo-mysql --with-pdo-sqlite $options"

cli=php$(php -n -r 'echo PHP_MAJOR_VERSION, ".", PHP_MINOR_VERSION;')-cli
version=$(dpkg-query -W -f='${source:Version}' "$cli")
source=$(dpkg-query -W -f='${source:Package}' "$cli")
cache=${XDG_CACHE_HOME:-$HOME/.cache}/token_bucket
folder=$cache/php/$1-debug
# A complete build of the same version with the same options is used again.
made_for="$version $options"
if [ "$(cat "$folder/made-for" 2>/dev/null)" = "$made_for" ]; then
    echo "$folder"
    exit
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
log=$folder.log
mkdir -p "$cache/php"
rm -rf "$folder"

# The machine's own sources of packages, asked for sources; with lists of their own, so that nothing
# of the machine changes.
fetch() {
    mkdir -p "$work/apt/parts" "$work/apt/lists" "$work/apt/cache"
    for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
        [ ! -e "$file" ] || sed -n 's/^deb /deb-src /p' "$file" >"$work/apt/parts/$(basename "${file%.list}").list"
    done
    for file in /etc/apt/sources.list.d/*.sources; do
        [ ! -e "$file" ] || sed 's/^Types:.*/Types: deb-src/' "$file" >"$work/apt/parts/$(basename "$file")"
    done
    set -- -q -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$work/apt/parts" -o Dir::State::lists="$work/apt/lists" \
        -o Dir::Cache="$work/apt/cache" -o APT::Sandbox::User="$(id -un)"
    apt-get "$@" update
    # Not every mirror has the sources of each security update: then of the version before.
    versions="$version $(apt-cache "$@" showsrc --only-source "$source" | sed -n 's/^Version: //p' | sort -rVu)"
    for candidate in $versions; do
        (cd "$work" && apt-get "$@" source --download-only "$source=$candidate") && return
    done
    return 1
}

build() {
    fetch
    # Debian's patches are for its folders and libraries, which this build has none of.
    dpkg-source --skip-patches --extract "$work"/*.dsc "$work/php"
    cd "$work/php"
    # shellcheck disable=SC2086
    ./configure --prefix="$folder" $options
    make -j"$(nproc)"
    # Apache's configuration is not ours to change: the module is put beside the rest.
    make install INSTALL_IT=true
    [ ! -e libs/libphp.so ] || cp libs/libphp.so "$folder/lib/"
}

echo "Building PHP from Debian's source, $1 and debug: some minutes, the first time" >&2
# In a condition `set -e` would not hold.
set +e
(set -e; build) >"$log" 2>&1
status=$?
set -e
[ $status = 0 ] || { tail -n 20 "$log" >&2; exit 1; }
printf '%s\n' "$made_for" >"$folder/made-for"
echo "$folder"
