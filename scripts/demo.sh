#!/bin/sh
# Serves examples/login.php under a private php-fpm, sends it logins from two addresses and prints how many
# were accepted. Leaves nothing behind.
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

# Posts the form $2 times from the address $1; sets accepted, limited and retry_after.
log_in() {
    accepted=0
    limited=0
    retry_after=-
    for _ in $(seq "$2"); do
        status=$(curl -s -o "$folder/page" -D "$folder/headers" -w '%{http_code}' --interface "$1" \
            -d password=guess "http://127.0.0.1:$fpm_port/login.php")
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

row() { printf '  %-12s %9s %8s %9s %12s\n' "$@"; }

echo "examples/login.php under php-fpm with 4 workers behind nginx:"
echo "ten logins for each address, one more each second"
echo
row client requests accepted limited "retry after"
log_in 127.0.0.1 25
row 127.0.0.1 25 "$accepted" "$limited" "$retry_after"
hammered=$limited
log_in 127.0.0.2 3
row 127.0.0.2 3 "$accepted" "$limited" "$retry_after"
other=$accepted
sleep 1
log_in 127.0.0.1 1
row "127.0.0.1 *" 1 "$accepted" "$limited" "$retry_after"
echo
echo "  * one second later"

# The demo is a test, too.
[ "$hammered" -ge 5 ] && [ "$other" = 3 ] && [ "$accepted" = 1 ] || {
    echo "The demo did not limit as it should"
    exit 1
}
