# For firewall.sh to source: what clients write, and a program that was taken over, keep out none but the addresses on its list.

nft -f - <<'RULES'
table inet of_the_administrator {
    set trusted { type ipv4_addr; elements = { 192.0.2.1 }; }
}
RULES
# The rules without the elements of the two sets and the counters.
rules() { nft list ruleset | sed -e 's/packets [0-9]* bytes [0-9]*//' | awk '/set blocked/ { is_set = 1 } !is_set { print } /^\t}/ { is_set = 0 }'; }
rules_before=$(rules)
unchanged() {
    [ "$(rules)" = "$rules_before" ] || fail "the ruleset has changed: $1"
    echo "  $1: the ruleset is as it was"
}

forge() {
    for client; do
        curl -s -m 5 -o /dev/null -G --data-urlencode "client=$client" "http://127.0.0.1:$fpm_port/raw.php"
    done
}
expect_none() {
    [ -z "$(elements blocked4)$(elements blocked6)" ] || fail "$1: $(elements blocked4) $(elements blocked6)"
    unchanged "$1"
}
forge 'fe80::1%eth0' '::ffff:1.2.3.4' 0.0.0.0/0 ::/0 198.51.100.1 198.51.100.0/24 2001:db8:1::/48 127.0.0.1
update raw --direct 2>"$folder/said" || fail "update: $(cat "$folder/said")"
[ "$(grep -c 'clients left out: [12345] ' "$folder/said")" = 3 ] || fail "$(cat "$folder/said")"
expect_none "a zone, a mapped address, all addresses, the server's own"
forge '1.2.3.4; flush ruleset' "1.2.3.4
flush ruleset"
update raw --direct 2>"$folder/said" || fail "update: $(cat "$folder/said")"
grep -q 'the limit raw is left out: 2 of its denied clients are no addresses' "$folder/said" || fail "$(cat "$folder/said")"
expect_none "commands of nft"
update raw --direct 2>"$folder/said"
[ ! -s "$folder/said" ] || fail "the same is said again: $(cat "$folder/said")"

status=0
update search 2>"$folder/said" || status=$?
[ $status = 1 ] && grep -q -- '--format nft needs --direct' "$folder/said" || fail "without --direct: $status, $(cat "$folder/said")"
echo "  without --direct: refused"

# What a program prints that was taken over. 198.51.100.9 is a proxy that the administrator has named in the rules.
mkdir "$folder/hostile"
printf '#!/bin/sh\ncat "%s/printed"\n' "$folder" >"$folder/hostile/token-bucket"
chmod 755 "$folder/hostile/token-bucket"
update_hostile() { PATH="$folder/hostile:$PATH" share/firewall/update-firewall nft 2>"$folder/said"; }
cat >"$folder/printed" <<'LINES'
flush ruleset
flush set inet token_bucket blocked4
flush set inet of_the_administrator trusted
flush set inet token_bucket never4
include "/etc/passwd"
add element inet token_bucket blocked4 {
0.0.0.0/0 timeout 300s,
0.0.0.0-255.255.255.255 timeout 300s,
198.51.100.7 timeout 0s,
198.51.100.7,
198.51.100.1 timeout 300s,
198.51.100.8 timeout 300s,
198.51.100.9 timeout 300s,
}; flush ruleset
}
add rule inet token_bucket prerouting drop
LINES
update_hostile || fail "the lines that are allowed: $(cat "$folder/said")"
unchanged "lines of other commands"
[ "$(elements blocked4 | sort | tr '\n' ' ')" = "198.51.100.1 198.51.100.8 198.51.100.9 " ] || fail "elements: $(elements blocked4)"
expect 200 198.51.100.9 "a proxy that is named in the rules"
expect 200 198.51.100.1 "the server itself"
expect refused 198.51.100.8 "any other address, which is all that the program gains"

# More than there is room for is not taken at all.
{
    echo 'add element inet token_bucket blocked4 {'
    "$php" -n -r 'for ($n = 0; $n < 33_000; $n++) { echo long2ip(ip2long("46.0.0.0") + 2 * $n), " timeout 300s,\n"; }'
    echo '}'
} >"$folder/printed"
! update_hostile || fail "more than the set has room for was taken"
{
    echo 'add element inet token_bucket blocked4 {'
    yes '1.2.3.4 timeout 300s,' | head -n 1000000
} >"$folder/printed"
! update_hostile || fail "a list without end was taken"
[ "$(wc -c <"$folder/state/nft/new")" -le 2097152 ] || fail "a list without end fills /run"
[ "$(elements blocked4 | wc -l)" = 3 ] || fail "elements: $(elements blocked4 | wc -l)"
unchanged "too many lines"

# Another program of the pool's user does not reach into the command, which came from root; it does into its own kind.
readable() { setpriv --reuid www-data --regid www-data --clear-groups head -c 1 "/proc/$1/environ" >/dev/null 2>&1; }
mkfifo "$folder/input" "$folder/output"
token_bucket_options=$(sed -n 's/^exec "[^"]*" \(.*\) "[^"]*token-bucket" .*/\1/p' "$folder/bin/token-bucket" | tr -d '"')
# shellcheck disable=SC2086
"$php" $token_bucket_options tests/firewall/other_user.php www-data <"$folder/input" >"$folder/output" &
other=$!
exec 8>"$folder/input" 9<"$folder/output"
read -r ready <&9
[ "$ready" = ready ] && grep -q "^Uid:.$(id -u www-data)" "/proc/$other/status" || fail "the command did not become another user"
setpriv --reuid www-data --regid www-data --clear-groups sleep 60 &
own=$!
comes_true readable "$own" || fail "a program of www-data cannot be read by another one: this test shows nothing"
kill "$own"
! readable "$other" || fail "the command can be read by other programs of www-data"
exec 8>&- 9<&-
wait "$other"
echo "  the command's memory is closed to www-data"
nft flush set inet token_bucket blocked4
