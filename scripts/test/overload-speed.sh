#!/bin/sh
# Measures how long members wait while visitors ask for five times as much as the workers can do: alone, with
# examples/overload.php and without. Eight workers, a page of 20 ms, 40 visitors and two members who ask again at once; by wrk.
# EXTENSION= names another build.
set -eu
cd "$(dirname "$0")/../.."
. scripts/setup/php.sh
. scripts/servers/fpm.sh

folder=$(mktemp -d /tmp/token_bucket-overload.XXXXXX)
chmod 755 "$folder"
trap 'fpm_stop; rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM
mkdir "$folder/pages"
cp examples/overload.php "$folder/pages/"
echo '<?php usleep(20_000); echo "page";' >"$folder/pages/page.php"
member="Cookie: member=anna.$("$php" -n -r 'echo hash_hmac("sha256", "anna", "secret");')"

# load CONNECTIONS SECONDS [OPTION]...    prints what wrk says
load() {
    connections=$1 seconds=$2
    shift 2
    wrk -t1 -c"$connections" -d"$seconds" --latency "$@" "http://127.0.0.1:$fpm_port/page.php"
}
# measure TITLE VISITORS DIRECTIVE
measure() {
    fpm_directives="pm.max_children = 8
env[MEMBER_KEY] = secret
$3"
    mkdir "$folder/fpm"
    fpm_start "$folder/fpm" "$folder/pages"
    visitors=
    if [ "$2" -gt 0 ]; then
        load "$2" 10 >"$folder/visitors" &
        visitors=$!
    fi
    sleep 1
    load 2 8 -H "$member" >"$folder/members"
    [ -z "$visitors" ] || wait "$visitors"
    printf '%s\n  members:  ' "$1"
    awk '/50%/ { median = $2 } /99%/ { last = $2 } / requests in / { count = $1 }
        END { printf "%s pages, half within %s, 99 %% within %s\n", count, median, last }' "$folder/members"
    [ "$2" = 0 ] || awk '/ requests in / { count = $1 } /Non-2xx/ { refused = $NF } END { printf "  visitors: %d answers, %d of them turned away\n", count, refused }' "$folder/visitors"
    fpm_stop
    rm -rf "$folder/fpm"
}

with="php_admin_value[auto_prepend_file] = $folder/pages/overload.php"
measure "members alone" 0 "$with"
measure "with visitors, examples/overload.php" 40 "$with"
measure "with visitors, without" 40 ""
