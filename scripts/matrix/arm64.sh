#!/bin/sh
# Builds the extension and its Rust tests for ARM64 on this machine, and runs them in Debian 13 for arm64, which qemu emulates, with
# this machine's servers. Within scripts/servers.sh; its last line is the result. As root, or with sudo.
set -eu
cd "$(dirname "$0")/../.."

if [ "$(id -u)" = 0 ]; then as_root=; else as_root=sudo; fi
target=aarch64-unknown-linux-gnu
root=${XDG_CACHE_HOME:-$HOME/.cache}/token_bucket/debian-trixie-arm64
built=$PWD/target/matrix/arm64
mkdir -p "$built"

# The kernel hands programs for ARM64 to qemu.
binfmt=/proc/sys/fs/binfmt_misc
[ -e $binfmt/register ] || $as_root mount -t binfmt_misc binfmt_misc $binfmt
[ -e $binfmt/qemu-aarch64 ] || $as_root update-binfmts --enable qemu-aarch64

step() { printf '\n== %s\n' "$1"; }
in_debian() { ARCH=arm64 scripts/matrix/debian.sh trixie "$@"; }

step "Packages"
in_debian scripts/setup/packages.sh arm64

step "Build"
rustup target list --installed | grep -qx $target || rustup target add $target
# PHP answers what it is by emulation; the compilers are this machine's, the headers that PHP's.
printf '#!/bin/sh\nQEMU_LD_PREFIX=%s exec %s -n "$@"\n' "$root" "$(echo "$root"/usr/bin/php[0-9]*)" >"$built/php"
printf '#!/bin/sh\nsh %s "$@" | sed "s|-I/usr|-I%s/usr|g"\n' "$(echo "$root"/usr/bin/php-config[0-9]*)" "$root" >"$built/php-config"
chmod +x "$built/php" "$built/php-config"
export PHP="$built/php" PHP_CONFIG="$built/php-config" CARGO_TARGET_DIR="$built/target"
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc CC_aarch64_unknown_linux_gnu=aarch64-linux-gnu-gcc
export BINDGEN_EXTRA_CLANG_ARGS="--target=aarch64-linux-gnu --sysroot=$root"
cargo build --locked --quiet --target $target
cargo test --locked --no-run --target $target 2>&1 | sed -n 's/.*Executable.*(\(.*\))/\1/p' >"$built/tests"
# `make test` runs the model checkers: they compute on one thread, so the processor is all the same.
# shellcheck disable=SC2046
$as_root install -D -t "$root/var/cache/token_bucket" "$built/target/$target/debug/libtoken_bucket.so" $(sed '/_protocol-/d' "$built/tests")

in_debian scripts/matrix/arm64-inside.sh
