# chromedriver for Chromium, for scripts to source.
#
# chromium_start FOLDER starts it and sets $chromium_url; FOLDER holds what it writes. chromium_stop stops it and its browsers.
. scripts/servers/free_port.sh

chromium_start() {
    CHROMIUM=$(command -v chromium)
    export CHROMIUM
    # As root Chromium runs without its sandbox only.
    [ "$(id -u)" != 0 ] || export CHROMIUM_NO_SANDBOX=1
    # With --port=0 chromedriver exits if the port that it takes under IPv6 is another program's under IPv4.
    chromium_port=$(free_port)
    : >"$1/chromedriver.log"
    # A group of its own, so that no browser outlives it.
    HOME=$1 setsid chromedriver --port="$chromium_port" >>"$1/chromedriver.log" 2>&1 &
    chromium_pid=$!
    tries=0
    until grep -q 'started successfully' "$1/chromedriver.log"; do
        tries=$((tries + 1))
        if [ "$tries" -gt 100 ]; then
            cat "$1/chromedriver.log" >&2
            return 1
        fi
        sleep 0.1
    done
    # shellcheck disable=SC2034
    chromium_url=http://127.0.0.1:$chromium_port
}

chromium_stop() {
    if [ -n "${chromium_pid-}" ]; then
        kill -s KILL -- "-$chromium_pid" 2>/dev/null || true
        wait "$chromium_pid" 2>/dev/null || true
        # Its browsers may write into the folder until they are gone.
        tries=0
        while kill -s 0 -- "-$chromium_pid" 2>/dev/null && [ "$tries" -lt 100 ]; do
            tries=$((tries + 1))
            sleep 0.05
        done
    fi
    chromium_pid=
}
