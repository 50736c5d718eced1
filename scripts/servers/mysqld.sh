#!/bin/sh
# Runs a real MySQL, unpacked into a folder that is kept: Debian has it in unstable only, Ubuntu in every release.
# Usage: mysqld.sh install FOLDER    makes a new data folder
#        mysqld.sh run OPTION...     runs the server
set -eu
scripts=$(dirname "$0")/..
if (. "$scripts/setup/mirror.sh") 2>/dev/null; then
    folder=$("$scripts/setup/unpack.sh" unstable mysql-server-core)
else
    package=$(apt-cache search --names-only '^mysql-server-core-[0-9]' | cut -d ' ' -f 1 | sort -V | tail -n 1)
    folder=$("$scripts/setup/unpack.sh" own "${package:?apt knows no mysql-server-core}")
fi

run() {
    exec "$scripts/setup/unpacked.sh" "$folder" usr/sbin/mysqld --no-defaults --basedir="$folder/usr" \
        --lc-messages-dir="$folder/usr/share/mysql" --character-sets-dir="$folder/usr/share/mysql/charsets" \
        --plugin-dir="$folder/usr/lib/mysql/plugin" --secure-file-priv= --mysqlx=OFF --user="$(id -un)" "$@"
}
case "${1-}" in
    run)
        shift
        run --performance-schema=OFF "$@"
        ;;
    install)
        # Making a data folder takes three seconds; later ones are copies.
        if [ ! -d "$folder/data" ]; then
            new=$(mktemp -d "$folder/data.XXXXXX")
            trap 'rm -rf "$new"' EXIT
            (run --initialize-insecure --datadir="$new/data" --innodb-redo-log-capacity=8M) >"$new/log" 2>&1 ||
                { tail -n 5 "$new/log" >&2; exit 1; }
            # Of two runs at once, the first to finish wins.
            mv -T "$new/data" "$folder/data" 2>/dev/null || [ -d "$folder/data" ]
        fi
        cp -r "$folder/data" "$2"
        # It holds the server's identity, which each server makes anew.
        rm -f "$2/auto.cnf"
        ;;
    *) sed -n 's/^# *\(Usage: .*\|  *mysqld.*\)/\1/p' "$0" >&2; exit 2 ;;
esac
