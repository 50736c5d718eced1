#!/bin/sh
# Runs the conformance suite, the vectors and the strict counts with Valkey in Redis's place. Within scripts/servers.sh.
set -eu
cd "$(dirname "$0")/../.."

export TB_REDIS_UNIX="$TB_VALKEY"
cargo test --locked --quiet --test conformance --test permits redis_unix
scripts/phpt.sh php-tests/02_storages/vectors.phpt php-tests/02_storages/servers_strict_count.phpt php-tests/02_storages/servers_refill_bound.phpt
