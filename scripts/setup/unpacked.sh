#!/bin/sh
# Runs a program of a folder that unpack.sh has made, with the folder's own loader and libraries.
# Usage: unpacked.sh FOLDER PROGRAM [ARGUMENT]...    PROGRAM as in usr/sbin/mysqld
set -eu

folder=$1 program=$2
shift 2
libraries=$(uname -m)-linux-gnu
for loader in "$folder"/usr/lib*/ld-linux-*.so.* "$folder"/lib*/ld-linux-*.so.* ; do [ ! -x "$loader" ] || break; done
exec "$loader" --argv0 "$folder/$program" --library-path \
    "$folder/usr/lib/$libraries:$folder/lib/$libraries:$folder/usr/lib/mysql/private" "$folder/$program" "$@"
