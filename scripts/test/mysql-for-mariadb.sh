#!/bin/sh
# Tests MySQL where other tests have MariaDB: the table, settings, sessions, rights, locks and faults. Within
# scripts/servers.sh.
set -eu
cd "$(dirname "$0")/../.."

# shellcheck disable=SC2046
TB_SQL=mysqld scripts/phpt.sh $(grep -l SQL_SERVER php-tests/*/*.phpt)
