# Starts and stops the server of a runtime that is tested, and its folder. For `.`, in the project's folder.
. scripts/servers/free_port.sh

folder=$(mktemp -d /tmp/token_bucket-runtime.XXXXXX)
mkdir "$folder/tables"
export TB_NOTES="$folder/notes"
server_pid=
clean_up() {
    [ -z "$server_pid" ] || kill -KILL "$server_pid" 2>/dev/null || true
    rm -rf "$folder" 2>/dev/null || { sleep 1; rm -rf "$folder"; }
}
trap clean_up EXIT
trap 'exit 130' INT TERM

ini() {
    # shellcheck disable=SC2154
    printf '%s\n' "extension = $extension" "token_bucket.shm_path = $folder/tables" 'token_bucket.test_clock = 1' \
        'error_reporting = -1' 'display_errors = 0' 'log_errors = 1' 'html_errors = 0' 'memory_limit = 128M'
}
start_server() {
    : >"$TB_NOTES"
    "$@" >>"$folder/server.log" 2>&1 &
    server_pid=$!
    tries=0
    # shellcheck disable=SC2154
    until curl -sf -o /dev/null "$url/?page=worker"; do
        tries=$((tries + 1))
        if [ $tries -ge 300 ] || ! kill -0 "$server_pid" 2>/dev/null; then
            tail -n 20 "$folder/server.log" | cut -c 1-400
            exit 1
        fi
        sleep 0.1
    done
}
stop_server() {
    kill -TERM "$server_pid"
    wait "$server_pid" || true
    server_pid=
    # No crash, no leak, no failed assertion, no panic.
    if grep -aE 'SIGSEGV|SIGABRT|Freeing 0x|memory leaks|Assertion|panicked|runtime error' "$folder/server.log"; then
        echo "FAILED: the server's log tells of faults"
        exit 1
    fi
}
# Proves the promises for so many workers, which a command restarts.
prove() {
    php -n scripts/matrix/runtimes/prove.php "$url" "$1" "$server_pid" "$2" || {
        tail -n 20 "$folder/server.log" | cut -c 1-400
        exit 1
    }
}
