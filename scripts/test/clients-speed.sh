#!/bin/sh
# How long a worker takes to read a file of 100,000 clients, what it keeps of each line, and what a call costs.
# EXTENSION= names another build.
set -eu
cd "$(dirname "$0")/../.."
. scripts/setup/php.sh

extension=${EXTENSION:-$PWD/target/release/libtoken_bucket.so}
[ -f "$extension" ] || { echo "There is no $extension: run make build" >&2; exit 2; }
folder=$(mktemp -d /dev/shm/token_bucket-clients.XXXXXX)
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM

scripts/test/clients-file.sh 100000 >"$folder/customers.ini"
printf '[plain]\nlimit = 10\ninterval = 10\n' >"$folder/plain.ini"
printf '[plain]\nlimit = 10\ninterval = 10\n[customers]\nlimit = 10\ninterval = 10\nclients = customers.ini\n' >"$folder/limits.ini"
run() { "$php" -n -d extension="$extension" -d token_bucket.storage=array: -d token_bucket.shm_path="$folder" -d token_bucket.limits="$folder/$1.ini" scripts/test/clients-speed.php "$2"; }
run plain plain
run limits plain
run limits customers
