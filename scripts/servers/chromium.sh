# chromedriver for Chromium, for scripts to source.
#
# chromium_start FOLDER starts it and sets $chromium_url; FOLDER holds what it writes. chromium_stop stops it and its browsers.

chromium_start() {
    CHROMIUM=$(command -v chromium)
    export CHROMIUM
    # As root Chromium runs without its sandbox only.
    [ "$(id -u)" != 0 ] || export CHROMIUM_NO_SANDBOX=1
    # chromedriver takes a port that is free under IPv6, and exits if another program has it under IPv4.
    starts=0
    until chromium_start_once "$1"; do
        chromium_stop
        starts=$((starts + 1))
        if [ "$starts" -ge 20 ]; then
            cat "$1/chromedriver.log" >&2
            return 1
        fi
    done
    # shellcheck disable=SC2034
    chromium_url=http://127.0.0.1:$chromium_port
}

chromium_start_once() {
    : >"$1/chromedriver.log"
    # A group of its own, so that no browser outlives it.
    HOME=$1 setsid chromedriver --port=0 >>"$1/chromedriver.log" 2>&1 &
    chromium_pid=$!
    tries=0
    until grep -q 'started successfully\|Exiting' "$1/chromedriver.log" || [ "$tries" -ge 100 ]; do
        tries=$((tries + 1))
        sleep 0.1
    done
    chromium_port=$(sed -n 's/.*started successfully on port \([0-9]*\).*/\1/p' "$1/chromedriver.log")
    [ -n "$chromium_port" ]
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
