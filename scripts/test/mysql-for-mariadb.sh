#!/bin/sh
# Runs the tests that start a MariaDB with MySQL in its place: the table, settings, sessions, rights, locks and
# faults. Within scripts/servers.sh.
set -eu
cd "$(dirname "$0")/../.."

# shellcheck disable=SC2046
TB_SQL=mysqld scripts/phpt.sh $(grep -rl SQL_SERVER php-tests --include="*.phpt")
