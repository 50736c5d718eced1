#!/bin/sh
# Runs within another release of Debian: the phpt suite and the conformance suite on its PHP and its servers,
# Valkey included. Usage: debian-inside.sh
set -eu
cd "$(dirname "$0")/../.."

step() { printf '\n== %s\n' "$1"; }

[ -n "${TB_SERVERS-}" ] || {
    step "Packages"
    scripts/setup/packages.sh valkey
    export EXTENSION="$CARGO_TARGET_DIR/release/libtoken_bucket.so"
    scripts/servers.sh "$0"
    exit
}

step "Build"
PHP="$(command -v php)" cargo build --release --locked --quiet

step "PHP"
scripts/phpt.sh

step "Rust: every store"
cargo test --locked --quiet --test conformance
step "Valkey in Redis's place"
scripts/test/valkey-for-redis.sh

step "Versions"
php -n -r 'echo "PHP ", PHP_VERSION, "\n";'
redis-server --version | sed -n 's/.* v=\([0-9.]*\).*/Redis \1/p'
valkey-server --version | sed -n 's/.* v=\([0-9.]*\).*/Valkey \1/p'
memcached --version
mariadbd --version | sed -n 's/.*Ver \([0-9.]*\).*/MariaDB \1/p'
scripts/servers/mysqld.sh run --version | sed -n 's/.*Ver \([0-9.]*\).*/MySQL \1/p'
