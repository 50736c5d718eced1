#!/bin/sh
# Runs every test on this machine's PHP. The last line is the result.
set -eu
cd "$(dirname "$0")/.."
. scripts/test/steps.sh

# Everything runs while servers of every kind are up.
[ -n "${TB_SERVERS-}" ] || exec scripts/servers.sh scripts/test.sh

# What helps the next build costs a tenth of the first one.
[ -d target/debug/incremental ] || export CARGO_INCREMENTAL=0
export EXTENSION="$PWD/target/debug/libtoken_bucket.so"

versions() {
    redis-server --version | sed -n 's/.* v=\([0-9.]*\).*/Redis \1/p'
    [ -z "${TB_VALKEY-}" ] || valkey-server --version | sed -n 's/.* v=\([0-9.]*\).*/Valkey \1/p'
    memcached --version
    mariadbd --version | sed -n 's/.*Ver \([0-9.]*\).*/MariaDB \1/p'
    scripts/servers/mysqld.sh run --version | sed -n 's/.*Ver \([0-9.]*\).*/MySQL \1/p'
}

# One build for all tests, which checks its own assertions, and overflows. make check tests the release.
step "Build" cargo build --locked --quiet --lib --tests --examples
[ ! -s "$steps/failed" ] || exit 1
step "Servers" versions
step "Demo" scripts/demo.sh
step "Prometheus" scripts/test/prometheus.sh
step "Rust: limits, slots, every store, the slot protocol under a model checker" scripts/test/rust.sh
# make check runs the tests of memory.
step "PHP: classes, stores, directives, errors, reflection, php-fpm, servers" scripts/phpt.sh -s $(ls -d php-tests/0[!8]_*)
step "Histories: is there an order of the calls that explains their answers? MySQL in MariaDB's place" \
    at_once "env SHORT=1 SECONDS_EACH=3 scripts/histories.sh" scripts/test/mysql-for-mariadb.sh
if [ -n "${TB_VALKEY-}" ]; then
    step "Valkey in Redis's place" scripts/test/valkey-for-redis.sh
else
    echo "This Debian has no Valkey: not tested." >>"$steps/output"
fi
step "The command, the status page in Chromium, an event loop, the integrations; nftables and HAProxy in network namespaces" \
    at_once scripts/test/command.sh scripts/test/page.sh scripts/test/revolt.sh scripts/test/firewall.sh \
    "scripts/test-integrations.sh frameworks" "scripts/test-integrations.sh stand-in"
end_steps "All tests passed."
