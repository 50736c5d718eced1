#!/bin/sh
# Runs a program from a folder of unpack.sh, with the loader and libraries in that folder.
# Usage: unpacked.sh FOLDER PROGRAM [ARGUMENT]...    PROGRAM as in usr/sbin/mysqld
set -eu

folder=$1 program=$2
shift 2
libraries=$(uname -m)-linux-gnu
for loader in "$folder"/usr/lib*/ld-linux-*.so.* "$folder"/lib*/ld-linux-*.so.* ; do [ ! -x "$loader" ] || break; done
exec "$loader" --argv0 "$folder/$program" --library-path \
    "$folder/usr/lib/$libraries:$folder/lib/$libraries:$folder/usr/lib/mysql/private" "$folder/$program" "$@"
