#!/bin/sh
# Runs a command with an application that is made for it: see application.sh. Usage: in-application.sh COMMAND [ARGUMENT]...
set -eu
cd "$(dirname "$0")/.."

. ./scripts/application.sh
make_application
start "$@"
status=0
wait "$started" || status=$?
exit $status
