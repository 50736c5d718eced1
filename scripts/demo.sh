#!/bin/sh
# Serves examples/login.php under a private php-fpm, sends it wrong passwords from two addresses and prints how many
# were looked at. Leaves nothing behind.
set -eu
cd "$(dirname "$0")/.."
. scripts/setup/php.sh
. scripts/servers/fpm.sh

folder=$(mktemp -d)
chmod 755 "$folder"
trap 'fpm_stop; rm -rf "$folder"' EXIT
trap 'exit 1' INT TERM

cp examples/login.php "$folder/"
fpm_start "$folder" "$folder"

# Posts the form $3 times from the address $1 for the user $2; sets accepted, limited and retry_after.
log_in() {
    accepted=0
    limited=0
    retry_after=-
    for _ in $(seq "$3"); do
        status=$(curl -s -o "$folder/page" -D "$folder/headers" -w '%{http_code}' --interface "$1" \
            -d "user=$2" -d password=guess "http://127.0.0.1:$fpm_port/login.php")
        case "$status" in
            403) accepted=$((accepted + 1)) ;;
            429)
                limited=$((limited + 1))
                retry_after="$(sed -n 's/^Retry-After: \([0-9]*\).*/\1/p' "$folder/headers") s"
                ;;
            *) echo "The login page answered $status"; cat "$folder/page" "$folder"/*.log; exit 1 ;;
        esac
    done
}

row() { printf '  %-12s %-6s %9s %10s %8s %12s\n' "$@"; }

echo "examples/login.php under php-fpm with 4 workers behind nginx:"
echo "five wrong passwords for each user at an address, one more each minute"
echo
row client user passwords "looked at" limited "retry after"
log_in 127.0.0.1 joe 25
row 127.0.0.1 joe 25 "$accepted" "$limited" "$retry_after"
first=$accepted
hammered=$limited
log_in 127.0.0.2 joe 3
row 127.0.0.2 joe 3 "$accepted" "$limited" "$retry_after"
other=$accepted
log_in 127.0.0.1 ann 3
row 127.0.0.1 ann 3 "$accepted" "$limited" "$retry_after"

# The demo is a test, too.
[ "$first" -ge 5 ] && [ "$hammered" -ge 15 ] && [ "$other" = 3 ] && [ "$accepted" = 3 ] || {
    echo "The demo did not limit as it should"
    exit 1
}
