# For firewall.sh to source: clients, the timer, and what is expected.

fail() {
    echo "FAILED: $1" >&2
    nft list ruleset | head -n 60 >&2
    [ ! -e "$folder/timer" ] || tail -n 20 "$folder/timer" >&2
    exit 1
}
# In milliseconds.
now() { date +%s%3N; }

# The command as packages install it: with a PHP that has the extension.
install_command() {
    modules=
    for module in posix pcntl; do
        [ ! -e "$("$php" -n -r 'echo PHP_EXTENSION_DIR;')/$module.so" ] || modules="$modules -d extension=$module"
    done
    # As each user may read it.
    install -m 644 "$EXTENSION" "$folder/token_bucket.so"
    printf '#!/bin/sh\nexec "%s" -n%s -d extension="%s" "%s" "$@"\n' "$php" "$modules" "$folder/token_bucket.so" "$PWD/bin/token-bucket" >"$folder/bin/token-bucket"
    chmod 755 "$folder/bin/token-bucket"
}
command_as_operator() { token-bucket "$@" --pool "$folder/fpm/fpm.conf" >/dev/null; }
update() { share/firewall/update-firewall nft "$@" --max-time 10 --pool "$folder/fpm/fpm.conf"; }

# Stands for token-bucket-firewall.timer.
timer_start() {
    (while :; do update "$@" --direct; sleep 3; done) >"$folder/timer" 2>&1 &
    timer_pid=$!
}
timer_stop() {
    [ -z "${timer_pid-}" ] || { kill "$timer_pid" && wait "$timer_pid"; } 2>/dev/null || true
    timer_pid=
}

# request ADDRESS PORT [QUERY]    prints the status of an answer, 000 without one
request() {
    case $1 in *:*) host="[2001:db8:1:1::1]" ;; *) host=198.51.100.1 ;; esac
    namespace="ip netns exec $TB_CLIENT"
    # The server itself asks from where it is.
    [ "$1" != 198.51.100.1 ] || namespace=
    $namespace curl -s -m 1 -o /dev/null -w '%{http_code}' --interface "$1" "http://$host:$2/search.php?${3-}" || true
}
# One request more than the limit has; QUERY tells the page for how long it blocks then.
knock() {
    for _ in 1 2 3 4; do
        request "$1" 80 "$2"
    done
}
# expect ANSWER ADDRESS WHAT [PORT]
expect() {
    seen=$(request "$2" "${4-80}")
    [ "$seen" != 000 ] || seen=refused
    [ "$seen" = "$1" ] || fail "$3, $2: expected $1, got $seen"
    echo "  $3: $seen"
}
# The client goes on until it gets no connection.
until_refused() {
    began=$(now)
    tries=0
    until [ "$(request "$1" 80 block=3600)" = 000 ]; do
        tries=$((tries + 1))
        [ $(($(now) - began)) -le $(($2 * 1000)) ] || fail "$1 still gets a connection after $2 s"
        sleep 0.1
    done
    echo "  $1: no connection after $tries requests more, $(($(now) - began)) ms"
}
# until_answered ADDRESS MILLISECONDS
until_answered() {
    began=$(now)
    until [ "$(request "$1" 80)" != 000 ]; do
        [ $(($(now) - began)) -le "$2" ] || fail "$1 gets no connection after $2 ms"
    done
    echo "  $1: is back after $(($(now) - began)) ms"
}
# What is in a set.
elements() { nft -j list set inet token_bucket "$1" | "$php" -n -r 'foreach (array_column(json_decode(stream_get_contents(STDIN), true)["nftables"], "set")[0]["elem"] ?? [] as $e) {
    $value = $e["elem"]["val"] ?? $e; echo is_array($value) ? "{$value["prefix"]["addr"]}/{$value["prefix"]["len"]}" : $value, "\n"; }'; }
# comes_true COMMAND [WORD]...    waits five seconds for it at most
comes_true() {
    for _ in $(seq 50); do
        ! "$@" || return 0
        sleep 0.1
    done
    return 1
}
