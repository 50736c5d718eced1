#!/bin/sh
# Installs the extension as a new user would, in fresh Debian 12 systems with only the packages that docs/install.md
# names: from source as PIE does, by scripts/install.sh, from dist/'s archive without a compiler, and by dist/'s Debian
# package. Debian 13 makes a package of its own. Checks php -m, a login form and php-fpm each time, and that uninstalling
# leaves nothing behind. Needs root, debootstrap, lintian, what make package made, and Rust by rustup, which the systems
# borrow.
set -eu
cd "$(dirname "$0")/.."
[ "$(id -u)" = 0 ] || { echo "Needs root, with Rust: sudo env PATH=\"\$PATH\" HOME=\"\$HOME\" $0" >&2; exit 1; }
# In a mount namespace of its own, so that all mounts end with it.
[ -n "${TRY_INSTALL-}" ] || TRY_INSTALL=1 exec unshare --mount --propagation private "$0"

cache=${XDG_CACHE_HOME:-$HOME/.cache}/token_bucket
cargo_home=${CARGO_HOME:-$HOME/.cargo}
rustup_home=${RUSTUP_HOME:-$HOME/.rustup}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)
archive=$(find "$PWD/dist" -name "php_token_bucket-${version}_php8.2-*-glibc-nts.zip")
deb=$(find "$PWD/dist" -name "php8.2-token-bucket_$(echo "$version" | tr - '~')-1_*.deb")
[ -n "$archive" ] && [ -n "$deb" ] || { echo "Debian 12 needs the archive and the package for its PHP 8.2; make package has made: $(ls dist)" >&2; exit 1; }
folder=$(mktemp -d)
log=$folder/log
fpm_pid=
finish() {
    status=$?
    [ -z "$fpm_pid" ] || kill "$fpm_pid" 2>/dev/null || true
    [ $status = 0 ] || { tail -n 30 "$log"; echo "Installing failed"; }
    for root in "$folder"/*/; do
        for mount in home/newcomer/.cargo home/newcomer/.rustup root/.cargo root/.rustup var/cache/apt/archives dev/shm dev proc; do
            umount --lazy "$root$mount" 2>/dev/null || true
        done
    done
    rm -rf --one-file-system "$folder"
    exit $status
}
trap finish EXIT
trap 'exit 130' INT TERM
step() { echo "$*"; echo "== $*" >>"$log"; }

. scripts/setup/mirror.sh
mkdir -p "$cache/debs"
# Makes a release's base system, once.
make_base() {
    base=$cache/$1-minbase.tar
    [ ! -e "$base" ] || return 0
    step "Making a base system of Debian $1, once"
    debootstrap --variant=minbase --cache-dir="$cache/debs" "$1" "$folder/base" "$mirror" >>"$log" 2>&1
    tar -C "$folder/base" -cf "$base.part" .
    mv "$base.part" "$base"
    rm -rf "$folder/base"
}

# Makes a fresh system; the commands below run in it.
# Usage: system NAME RELEASE    bookworm or trixie
system() {
    root=$folder/$1
    case $2 in
        bookworm) php_version=8.2 ;;
        trixie) php_version=8.4 ;;
    esac
    make_base "$2"
    mkdir "$root"
    tar -C "$root" -xf "$base"
    mount -t proc proc "$root/proc"
    mount --bind /dev "$root/dev"
    mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
    mount --bind "$cache/debs" "$root/var/cache/apt/archives"
    cp /etc/resolv.conf "$root/etc/"
    printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
    chmod 755 "$root/usr/sbin/policy-rc.d"
    as_root apt-get -q update
}
# as_root runs a command without Rust on the path; as_user runs one as an ordinary user with Rust.
as_root() {
    chroot "$root" env -i HOME=/root DEBIAN_FRONTEND=noninteractive PATH=/usr/sbin:/usr/bin:/sbin:/bin sh -c '"$@"' sh "$@" >>"$log" 2>&1
}
as_user() {
    chroot "$root" su newcomer -c "export PATH=/home/newcomer/.cargo/bin:\$PATH CARGO_NET_OFFLINE=true; cd ~/token_bucket/packaging/pie && { $1; }" >>"$log" 2>&1
}
# Copies what the archive of a tag would have, changes that are not committed included, into a folder of the system.
copy_source() {
    mkdir "$1"
    tree=$(GIT_INDEX_FILE=$folder/index sh -c 'git add --all && git write-tree')
    git archive "$tree" | tar -C "$1" -x --no-same-owner
}
# Lends this machine's Rust to the home of a user of the system.
lend_rust() {
    cargo fetch --locked --quiet
    for borrowed in "$cargo_home:.cargo" "$rustup_home:.rustup"; do
        mkdir "$1/${borrowed##*:}"
        mount --bind "${borrowed%:*}" "$1/${borrowed##*:}"
        mount -o remount,bind,ro "$1/${borrowed##*:}"
    done
}
packages() { as_root apt-get -qy -o APT::Keep-Downloaded-Packages=true install --no-install-recommends "$@"; }
# Succeeds if a command fails with this text.
refused() {
    wanted=$1
    shift
    : >"$folder/refused"
    if (log=$folder/refused; "$@"); then cat "$folder/refused" >>"$log"; return 1; fi
    cat "$folder/refused" >>"$log"
    grep -q "$wanted" "$folder/refused"
}

# Checks that the command line has this version of the extension, and that a login form under php-fpm accepts ten
# logins and denies two.
works() {
    as_root sh -c "php -m | grep -x token_bucket && phpquery -v $php_version -s cli -m token_bucket && phpquery -v $php_version -s fpm -m token_bucket"
    as_root sh -c "php --ri token_bucket && test \"\$(php -r 'echo phpversion(\"token_bucket\");')\" = $version"
    cat >"$root/srv/login.php" <<'PHP'
<?php
$bucket = new TokenBucket(null, $_SERVER['REMOTE_ADDR'], 10, 1 / 3600);
if (!$bucket->consume()) { http_response_code(429); exit('Too many attempts.'); }
echo 'Come in.';
PHP
    mkdir -p "$root/run/php"
    chroot "$root" "php-fpm$php_version" --nodaemonize >>"$log" 2>&1 &
    fpm_pid=$!
    tries=0
    until [ -S "$root/run/php/php$php_version-fpm.sock" ]; do
        tries=$((tries + 1))
        [ $tries -lt 300 ] || { echo "php-fpm did not start" >>"$log"; return 1; }
        sleep 0.1
    done
    accepted=0 denied=0
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do
        answer=$(chroot "$root" env -i REQUEST_METHOD=GET SCRIPT_FILENAME=/srv/login.php REMOTE_ADDR=192.0.2.1 \
            cgi-fcgi -bind -connect "/run/php/php$php_version-fpm.sock")
        case $answer in
            *'Come in.') accepted=$((accepted + 1)) ;;
            *'429 '*'Too many attempts.') denied=$((denied + 1)) ;;
            *) echo "$answer" >>"$log"; return 1 ;;
        esac
    done
    kill "$fpm_pid"
    wait "$fpm_pid" 2>/dev/null || true
    fpm_pid=
    rm -f "$root/dev/shm/token_bucket-33/"*
    echo "    php -m, php --ri and php-fpm have it; of 12 logins $accepted were accepted, $denied denied"
    [ $accepted = 10 ] && [ $denied = 2 ]
}
# Checks that no file of the extension is left.
gone() {
    left=$(find "$root/etc/php" "$root/usr" "$root/var/lib/php/modules" -name '*token[_-]bucket*')
    [ -z "$left" ] || { echo "Left: $left" >>"$log"; return 1; }
    as_root sh -c '! php -m | grep -x token_bucket'
}

. packaging/debian/try.sh

step "The archive, where there is no compiler"
system archive bookworm
packages php-cli php-fpm libfcgi-bin unzip
cp "$archive" "$root/tmp/archive.zip"
as_root sh -c 'cd /tmp && unzip archive.zip && cp token_bucket.so "$(php -r "echo PHP_EXTENSION_DIR;")" &&
    cp token_bucket.ini /etc/php/8.2/mods-available/ && phpenmod token_bucket'
works
as_root sh -c 'phpdismod token_bucket && ! php -m | grep -x token_bucket'

step "The Debian package, in Debian 12"
lintian --fail-on error "$deb" >>"$log" 2>&1
echo "    lintian: $(lintian "$deb" 2>/dev/null | grep -c '^W:' || true) warnings, no errors"
system package bookworm
check_package "$deb"

step "From source, as PIE does it: phpize, ./configure, make, make install"
system source bookworm
packages php-cli php-fpm libfcgi-bin php-dev make
as_root useradd -m -s /bin/sh newcomer
home=$root/home/newcomer
copy_source "$home/token_bucket"
as_root chown -R newcomer: /home/newcomer/token_bucket
as_user 'phpize'
refused 'no cargo that works; install Rust' as_user './configure'
echo "    without cargo, configure tells what to install"
lend_rust "$home"
refused 'apt-get install clang libclang-dev' as_user './configure'
echo "    without libclang, configure tells what to install"
packages clang libclang-dev
as_user './configure --with-php-config=/usr/bin/php-config8.2 && make -j2'
as_root make -C /home/newcomer/token_bucket/packaging/pie install
as_root sh -c 'cp /home/newcomer/token_bucket/token_bucket.ini /etc/php/8.2/mods-available/ && phpenmod token_bucket'
works
# The tests are in the repository only.
git ls-files -z --cached --others --exclude-standard php-tests | tar --null -T - -c | tar -C "$home/token_bucket" -x --no-same-owner
as_root chown -R newcomer: /home/newcomer/token_bucket/php-tests
as_user 'NO_INTERACTION=1 make test'
echo "    make test: $(sed -n 's/^Tests passed *: *\([0-9]*\).*/\1/p' "$log" | tail -n 1) passed"

step "scripts/install.sh and uninstall.sh"
mkdir -p "$home/token_bucket/target/release"
cp "$home/token_bucket/packaging/pie/modules/token_bucket.so" "$home/token_bucket/target/release/libtoken_bucket.so"
scripts=/home/newcomer/token_bucket/scripts
as_root $scripts/uninstall.sh
gone
as_root $scripts/install.sh
works
[ ! -d bin ] || as_root /usr/local/bin/token-bucket --help
as_root sh -c 'grep -x ".SH NAME" /usr/local/share/man/man1/token-bucket.1'
as_root $scripts/install.sh
as_root $scripts/uninstall.sh
gone
as_root $scripts/install.sh
echo 'token_bucket.prefix = "mine:"' >>"$root/etc/php/8.2/mods-available/token_bucket.ini"
as_root $scripts/install.sh
as_root sh -c 'test "$(php -r "echo ini_get(\"token_bucket.prefix\");")" = mine:'
as_root $scripts/uninstall.sh
as_root sh -c 'grep mine: /etc/php/8.2/mods-available/token_bucket.ini && ! php -m | grep -x token_bucket'
rm "$root/etc/php/8.2/mods-available/token_bucket.ini"
install_deb "$deb"
refused 'belongs to the Debian package php8.2-token-bucket' as_root $scripts/install.sh
refused 'belongs to the Debian package php8.2-token-bucket' as_root $scripts/uninstall.sh
as_root apt-get -qy purge php8.2-token-bucket
echo "    installed twice, removed without a trace; an edited token_bucket.ini was kept; the Debian package was not touched"

step "make clean, phpize --clean"
as_user 'make clean && test ! -e modules/token_bucket.so && test ! -e build/cargo && phpize --clean'
as_user 'test ! -e Makefile && test ! -e build'

step "A Debian package made in Debian 13, and installed there"
system maker trixie
copy_source "$root/root/token_bucket"
lend_rust "$root/root"
as_root /root/token_bucket/scripts/setup/packages.sh package
# The source has no history here.
as_root env PATH="/root/.cargo/bin:/usr/sbin:/usr/bin:/sbin:/bin" CARGO_NET_OFFLINE=true SOURCE_DATE_EPOCH="$(git log -1 --format=%ct)" \
    DEBFULLNAME="$(git log -1 --format=%an)" DEBEMAIL="$(git log -1 --format=%ae)" /root/token_bucket/packaging/package.sh
deb=$(find "$root/root/token_bucket/dist" -name 'php8.4-token-bucket_*.deb')
lintian --fail-on error "$deb" >>"$log" 2>&1
system package13 trixie
check_package "$deb"
echo "Installing works"
