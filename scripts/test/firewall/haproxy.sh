# For firewall.sh to source: HAProxy in front, which tells the application the client's address.

cat >"$folder/haproxy.cfg" <<CONFIG
global
    stats socket $folder/haproxy.sock level admin
defaults
    mode http
    timeout connect 5s
    timeout client 10s
    timeout server 10s
    option forwardfor
$(sed '/^#/d' share/firewall/haproxy.cfg)
frontend www
    bind :::81 v4v6
$(sed -n 's/^# *\(tcp-request\)/    \1/p' share/firewall/haproxy.cfg)
    default_backend php
backend php
    server nginx 127.0.0.1:$fpm_port
CONFIG
haproxy -q -db -f "$folder/haproxy.cfg" &
haproxy_pid=$!
tries=100
until curl -s -o /dev/null http://127.0.0.1:81/search.php; do
    tries=$((tries - 1))
    [ "$tries" -gt 0 ] || { echo "HAProxy does not answer" >&2; exit 1; }
    sleep 0.1
done
update_haproxy() { HAPROXY=$folder/haproxy.sock share/firewall/update-firewall haproxy search --max-time 10 --pool "$folder/fpm/fpm.conf"; }

for client in 198.51.100.9 2001:db8:1:8::a; do
    command_as_operator reset search "$(case $client in *:*) echo 2001:db8:1:8::/64 ;; *) echo $client ;; esac)"
    for _ in $(seq 20); do
        request "$client" 81 block=3600 >/dev/null
    done
    expect 429 "$client" "before the run" 81
done
update_haproxy
expect refused 198.51.100.9 "blocked" 81
expect refused 2001:db8:1:8::a "blocked" 81
expect 200 198.51.100.8 "another client" 81
update_haproxy
expect refused 198.51.100.9 "after the next run" 81
command_as_operator unblock search 198.51.100.9
update_haproxy
expect 200 198.51.100.9 "after its block was lifted" 81
expect refused 2001:db8:1:8::a "still blocked" 81
kill "$haproxy_pid"
wait "$haproxy_pid" 2>/dev/null || true
