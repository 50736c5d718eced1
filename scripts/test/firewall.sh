#!/bin/sh
# Tests share/firewall with nftables: nginx and php-fpm in a network namespace of their own, and clients in another one. Needs root.
# EXTENSION= names another build.
set -eu
cd "$(dirname "$0")/../.."
. scripts/setup/php.sh
export EXTENSION="${EXTENSION:-$PWD/target/release/libtoken_bucket.so}"

if [ -z "${TB_FIREWALL_FOLDER-}" ]; then
    server=tb-server-$$ client=tb-client-$$
    ip netns add "$server" 2>/dev/null || { echo "SKIP firewall: network namespaces cannot be made here"; exit 0; }
    ip netns add "$client"
    folder=$(mktemp -d /tmp/token_bucket-firewall.XXXXXX)
    trap 'ip netns del $server; ip netns del $client; rm -rf "$folder"' EXIT
    trap 'exit 130' INT TERM
    chmod 755 "$folder"
    ip -n "$server" link add web type veth peer name out netns "$client"
    ip -n "$server" address add 198.51.100.1/24 dev web
    ip -n "$server" address add 2001:db8:1:1::1/64 dev web nodad
    # Clients are 7, 8 and 9 of IPv4, and a network of IPv6 each.
    for number in 7 8 9; do
        ip -n "$client" address add "198.51.100.$number/24" dev out
    done
    for address in 2001:db8:1:7::a 2001:db8:1:7::b 2001:db8:1:8::a; do
        ip -n "$client" address add "$address/128" dev out nodad
    done
    for namespace in "$server" "$client"; do
        ip -n "$namespace" link set lo up
    done
    ip -n "$server" link set web up
    ip -n "$client" link set out up
    ip -n "$server" route add 2001:db8:1::/48 dev web
    ip -n "$client" route add 2001:db8:1:1::/64 dev out
    # Without the kernel's nf_tables there is nothing to test.
    ip netns exec "$server" nft list ruleset >/dev/null 2>&1 || { echo "SKIP firewall: nft has no rights here"; exit 0; }
    status=0
    TB_FIREWALL_FOLDER=$folder TB_CLIENT=$client ip netns exec "$server" "$0" || status=$?
    exit $status
fi

folder=$TB_FIREWALL_FOLDER
. scripts/servers/fpm.sh
. scripts/test/firewall/steps.sh
mkdir "$folder/pages" "$folder/fpm" "$folder/bin" "$folder/state"
trap 'timer_stop; fpm_stop; kill ${haproxy_pid-} ${other-} 2>/dev/null || true' EXIT
trap 'exit 130' INT TERM
export RUNTIME_DIRECTORY="$folder/state" PATH="$folder/bin:$PATH" RULES="$folder/rules.nft"
# 198.51.100.9 is a proxy.
sed 's/elements = { 0.0.0.0/elements = { 198.51.100.9, 0.0.0.0/' share/firewall/token-bucket.nft >"$RULES"
cp tests/firewall/*.php "$folder/pages/"
printf '[search]\nlimit = 3\ninterval = 3600\n[raw]\nlimit = 3\ninterval = 3600\n' >"$folder/limits.ini"
fpm_directives="php_admin_value[token_bucket.limits] = $folder/limits.ini"
nginx_directives="listen 80; listen [::]:80; listen 8080;"
fpm_start "$folder/fpm" "$folder/pages"
install_command

echo "Before any call"
update search --direct || fail "it needs a table"
[ -z "$(elements blocked4)" ] || fail "the set is not empty: $(elements blocked4)"

echo "A client that is blocked and goes on"
timer_start search
knock 198.51.100.7 block=25 >/dev/null
blocked_at=$(now)
until_refused 198.51.100.7 10
until_refused 2001:db8:1:7::a 10
expect refused 2001:db8:1:7::b "its whole /64"
expect 200 198.51.100.8 "another client"
expect 200 2001:db8:1:8::a "another network"
expect 429 198.51.100.7 "another port" 8080
expect 200 198.51.100.1 "the server itself"
until_answered 198.51.100.7 $((blocked_at + 30000 - $(now)))
[ $(($(now) - blocked_at)) -ge 24000 ] || fail "198.51.100.7 was let in before its block ended"

echo "A block that is lifted"
knock 198.51.100.7 block=3600 >/dev/null
until_refused 198.51.100.7 10
command_as_operator unblock search 198.51.100.7
until_answered 198.51.100.7 6000

echo "A timer that died"
knock 198.51.100.7 block=3600 >/dev/null
until_refused 198.51.100.7 10
timer_stop
until_answered 198.51.100.7 12000
[ -z "$(elements blocked4)" ] || fail "the set is not empty: $(elements blocked4)"

echo "Rules that an administrator has edited"
knock 198.51.100.7 block=3600 >/dev/null
sed -i 's/dport != { 80, 443 }/dport != { 80, 443, 8080 }/' "$RULES"
timer_start search
until_refused 198.51.100.7 10
expect refused 198.51.100.7 "a port more" 8080
timer_stop
command_as_operator unblock search 198.51.100.7
sed -i 's/, 8080 }/ }/' "$RULES"
update search --direct

echo "Forged clients, a proxy, a command that was taken over"
. scripts/test/firewall/hostile.sh

echo "HAProxy in front"
. scripts/test/firewall/haproxy.sh

echo "10,000 clients"
. scripts/test/firewall/many.sh

echo "The firewall keeps out blocked clients, and no others."
