#!/bin/sh
# How long a decision takes on MariaDB and MySQL whose commits wait for the disk (innodb_flush_log_at_trx_commit=1), and do not (0),
# each twice: one process, an accepted call on one bucket, by a unix socket. The data lie below /tmp. EXTENSION= names another build.
set -eu
cd "$(dirname "$0")/../.."
. scripts/setup/php.sh

[ -n "${TB_SERVERS-}" ] || exec scripts/servers.sh scripts/test/flush-speed.sh
extension=${EXTENSION:-$PWD/target/release/libtoken_bucket.so}
[ -f "$extension" ] || { echo "There is no $extension: run make build" >&2; exit 2; }
for name in mariadb mysql; do
    case $name in mariadb) dsn=$TB_MARIADB_UNIX ;; *) dsn=$TB_MYSQL_UNIX ;; esac
    for flush in 0 1 0 1; do
        mariadb --no-defaults -u root -S "$TB_SERVERS/$name.sock" -e "SET GLOBAL innodb_flush_log_at_trx_commit = $flush"
        printf '%-8s %s: ' "$name" "$flush"
        DSN="$dsn&timeout_ms=5000" "$php" -n -d extension="$extension" -d token_bucket.shm_path="$TB_SERVERS" scripts/test/flush-speed.php
    done
done
