#!/bin/sh
# Installs the missing Debian packages of a make target; needs no rights if none is missing.
# Usage: packages.sh build|demo|test|bench|histories|matrix|arm64|sanitize|fuzz|package|try-install|valkey|forky|integrations
# TB_INTEGRATIONS= names some of the folders in integrations/, each of which has a list.
set -eu

build="php-cli php-dev clang libclang-dev pkg-config make"
demo="$build php-fpm nginx-light curl"
servers="redis-server redis-sentinel memcached mariadb-server openssl"
fuzz="$build g++"
test="$demo $servers eatmydata php-mysql php-sqlite3 phpunit libfcgi-bin valgrind strace gcc g++ iproute2 nftables haproxy socat prometheus chromium chromium-driver fonts-dejavu-core"
bench="$test php-cgi php-redis php-memcached php-memcache php-apcu php-symfony-rate-limiter php-symfony-cache php-symfony-lock php-illuminate-cache php-illuminate-filesystem php-illuminate-redis php-mbstring wrk gnuplot-nox"
histories="$test php-redis php-memcached php-apcu php-symfony-rate-limiter php-symfony-cache php-symfony-lock php-illuminate-cache php-illuminate-filesystem"
matrix="$test apache2-bin apache2-dev apache2-utils build-essential debootstrap dpkg-dev gcc-aarch64-linux-gnu libc6-dev-arm64-cross libsqlite3-dev
    musl-tools"
# What the tests that run on an emulated processor need.
arm64="php-cli php-dev php-mysql php-sqlite3 openssl"
# A folder may have a list for this release, as packages-forky.
list_integrations() {
    folder=$(dirname "$0")/../../integrations
    release=$(. /etc/os-release && echo "${VERSION_CODENAME-}")
    for name in ${TB_INTEGRATIONS:-$(cd "$folder" && ls -d -- */)}; do
        list=$folder/${name%/}/packages-$release
        [ -e "$list" ] || list=$folder/${name%/}/packages
        sed 's/#.*//' "$list"
    done
}
case "${1-}" in
    integrations) wanted=$(list_integrations | sort -u) ;;
    build) wanted=$build ;;
    demo) wanted=$demo ;;
    test | sanitize) wanted=$test ;;
    bench) wanted=$bench ;;
    histories) wanted=$histories ;;
    matrix) wanted=$matrix ;;
    arm64) wanted=$arm64 ;;
    fuzz) wanted=$fuzz ;;
    package) wanted="$build zip binutils dpkg-dev" ;;
    try-install) wanted="$build zip binutils dpkg-dev debootstrap lintian" ;;
    forky) wanted="$build debootstrap" ;;
    valkey) wanted="$test valkey-server" ;;
    *) sed -n 's/^# \(Usage: .*\)/\1/p' "$0" >&2; exit 2 ;;
esac
# A PHP= that is not Debian's has headers of its own.
case $(command -v "${PHP:-/usr/bin/php}") in
    "" | /usr/bin/*) ;;
    *) wanted=$(echo "$wanted" | tr ' ' '\n' | sed '/^php-\(cli\|dev\)$/d') ;;
esac
# PHP_VERSION=8.6 selects a PHP that is not the release's default.
[ -z "${PHP_VERSION-}" ] || wanted=$(echo "$wanted" | sed "s/php-\([a-z]\)/php$PHP_VERSION-\1/g")

missing=
for package in $wanted; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q ' installed$' || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

echo "Installing:$missing"
if [ "$(id -u)" = 0 ]; then as_root=; else as_root=sudo; fi
log=$(mktemp)
# Services of new packages are not started, because make runs its own.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
    printf '#!/bin/sh\nexit 101\n' | $as_root tee "$policy" >/dev/null
    $as_root chmod 755 "$policy"
    trap '$as_root rm -f "$policy"' EXIT INT TERM
fi
if ! { $as_root apt-get -q update &&
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get -qy install --no-install-recommends $missing; } >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    exit 1
fi
rm -f "$log"
