#!/bin/sh
# Runs a command in another release of Debian: in a folder that is kept, and in a namespace, so that its mounts and
# processes end with it. The command sees a copy of the source tree as /src, and this machine's Rust. As root, or
# with sudo.
# Within scripts/servers.sh the command sees the servers, too.
# Usage: debian.sh RELEASE COMMAND [ARGUMENT]...
# ARCH=arm64: that release for another processor, which qemu emulates.
# PHP_VERSION=8.6: a folder for that PHP, whose packages come from Debian experimental. Each PHP has a
# folder, because the versions of php-common that they need exclude each other.
set -eu
cd "$(dirname "$0")/../.."

release=$1
shift
cache=${XDG_CACHE_HOME:-$HOME/.cache}/token_bucket
php_version=${PHP_VERSION-} arch=${ARCH-}
root=$cache/debian-$release${php_version:+-php$php_version}${arch:+-$arch}
cargo_home=${CARGO_HOME:-$HOME/.cargo}
rustup_home=${RUSTUP_HOME:-$HOME/.rustup}
if [ "$(id -u)" = 0 ]; then as_root=; else as_root=sudo; fi

. scripts/setup/mirror.sh

install_base() {
    $as_root rm -rf "$root" "$root.new"
    # This machine's debootstrap may not know a newer release.
    script=/usr/share/debootstrap/scripts/$release
    [ -e "$script" ] || script=/usr/share/debootstrap/scripts/sid
    # debootstrap uses apt's proxy.
    proxy=$(apt-config dump | sed -n 's/^Acquire::http::Proxy "\(.*\)";/\1/p')
    $as_root env ${proxy:+http_proxy="$proxy"} debootstrap ${arch:+--arch=$arch} --variant=minbase --include=ca-certificates "$release" "$root.new" "$mirror" "$script" || return
    # The new system gets apt's settings for fetching, and its sources.
    apt-config dump | grep '^Acquire::' | $as_root tee "$root.new/etc/apt/apt.conf.d/90host" >/dev/null
    {
        echo "deb $mirror $release main"
        if [ "$release" = unstable ]; then
            echo "deb $mirror experimental main"
        else
            echo "deb $mirror $release-updates main"
            echo "deb ${mirror%/debian*}/debian-security $release-security main"
        fi
    } | $as_root tee "$root.new/etc/apt/sources.list" >/dev/null
    # Of experimental, only this PHP's packages are preferred.
    [ -z "$php_version" ] || $as_root tee "$root.new/etc/apt/preferences.d/php" >/dev/null <<PIN
Package: php$php_version-*
Pin: release a=experimental
Pin-Priority: 990
PIN
    $as_root mv "$root.new" "$root"
}
if [ ! -d "$root" ]; then
    echo "Installing Debian $release in $root: some minutes, the first time"
    mkdir -p "$cache"
    install_base >"$root.log" 2>&1 || { tail -n 20 "$root.log" >&2; exit 1; }
fi

# The crates are fetched first, because the command cannot write to this user's files.
cargo fetch --locked --quiet
$as_root rm -rf "$root/src"
$as_root mkdir "$root/src"
tar -c --exclude=./target --exclude=./.git . | $as_root tar -x --no-same-owner -C "$root/src"
$as_root cp /etc/hosts /etc/resolv.conf "$root/etc/"

# The servers' DSNs, and the folder of their sockets and keys.
servers=$(env | grep '^TB_' || true)

# The end of this script ends the command: unshare itself ignores SIGTERM.
inside=
end() { [ -z "$inside" ] || $as_root kill -KILL "$inside" 2>/dev/null || true; }
trap end EXIT
trap 'exit 130' INT TERM

# shellcheck disable=SC2016
$as_root setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child sh -euc '
    root=$1 cargo_home=$2 rustup_home=$3 php_version=$4 folder=$5 servers=$6
    shift 6
    mount --bind "$root" "$root"
    cd "$root"
    mkdir -p root/.cargo root/.rustup
    mount -t proc proc proc
    mount --rbind /sys sys
    mount --rbind /dev dev
    mount --bind "$cargo_home" root/.cargo
    mount --bind "$rustup_home" root/.rustup
    mount -o remount,bind,ro root/.cargo
    mount -o remount,bind,ro root/.rustup
    [ -z "$folder" ] || { mkdir -p ".$folder" && mount --bind "$folder" ".$folder"; }
    # Not chroot, within which the kernel allows no user namespaces; a test needs one.
    pivot_root . mnt
    umount -l mnt
    cd /src
    exec env -i HOME=/root LANG=C.UTF-8 PATH=/root/.cargo/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        CARGO_NET_OFFLINE=true CARGO_TARGET_DIR=/var/cache/token_bucket PHP_VERSION="$php_version" $servers "$@"
' sh "$root" "$cargo_home" "$rustup_home" "$php_version" "${TB_SERVERS-}" "$servers" "$@" &
inside=$!
status=0
wait "$inside" || status=$?
inside=
exit $status
