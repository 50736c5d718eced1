#!/bin/sh
# Threads that share a process: Apache with mod_php of a thread-safe debug build, under load.
# Usage: threads.sh PHP_FOLDER EXTENSION    within scripts/servers.sh
set -eu
cd "$(dirname "$0")/../.."
. scripts/servers/free_port.sh

php_folder=$1
extension=$2
folder=$(mktemp -d /tmp/token_bucket-threads.XXXXXX)
chmod 755 "$folder"
modules=$(apxs -q LIBEXECDIR)
apache_pid=
clean_up() {
    # shellcheck disable=SC2086
    [ -z "$apache_pid" ] || kill -KILL $apache_pid $(children) 2>/dev/null || true
    # A process that is being killed may still write.
    rm -rf "$folder" 2>/dev/null || { sleep 1; rm -rf "$folder"; }
}
trap clean_up EXIT
trap 'exit 130' INT TERM

fail() {
    echo "FAILED: $*"
    tail -n 20 "$folder"/*.log "$folder/load" 2>/dev/null || true
    exit 1
}
children() { ps -o pid= --ppid "$apache_pid"; }

# The pages where every user may read them, and tables where that user may write.
mkdir "$folder/pages" "$folder/tables" "$folder/tables-of-first" "$folder/tables-of-second"
cp scripts/matrix/threads/* "$folder/pages/"
cp -r "$folder/pages" "$folder/first"
mv "$folder/first" "$folder/pages/first"
cp -r "$folder/pages/first" "$folder/pages/second"
mkdir "$folder/pages/local"
cp scripts/matrix/threads/* "$folder/pages/local/"
echo 'php_value token_bucket.timeout_ms soon' >"$folder/pages/local/.htaccess"
chmod -R a+rX "$folder/pages"
chmod 1777 "$folder"/tables*

cat >"$folder/php.ini" <<INI
extension = $extension
zend_extension = opcache
token_bucket.shm_path = $folder/tables
token_bucket.test_clock = 1
error_reporting = -1
display_errors = 0
log_errors = 1
html_errors = 0
INI

# Writes the configuration of so many processes with so many threads each, on a port of its own.
configure() {
    processes=$1 threads=$2
    port=$(free_port)
    url=http://127.0.0.1:$port
    cat >"$folder/apache.conf" <<CONF
ServerRoot $folder
ServerName 127.0.0.1
Listen 127.0.0.1:$port
PidFile $folder/apache.pid
ErrorLog $folder/apache.log
LoadModule mpm_event_module $modules/mod_mpm_event.so
LoadModule authz_core_module $modules/mod_authz_core.so
LoadModule php_module $php_folder/lib/libphp.so
PHPIniDir $folder
$([ "$(id -u)" = 0 ] && printf 'User www-data\nGroup www-data')
StartServers $processes
ServerLimit 8
ThreadsPerChild $threads
MaxRequestWorkers $((processes * threads))
MinSpareThreads 1
MaxSpareThreads $((processes * threads))
KeepAlive On
MaxKeepAliveRequests 0
DocumentRoot $folder/pages
<Directory $folder/pages>
    Require all granted
    SetHandler application/x-httpd-php
</Directory>
<Directory $folder/pages/first>
    php_admin_value token_bucket.shm_path $folder/tables-of-first
</Directory>
<Directory $folder/pages/second>
    php_admin_value token_bucket.shm_path $folder/tables-of-second
</Directory>
<Directory $folder/pages/local>
    AllowOverride Options
</Directory>
CONF
}

# Waits until a command succeeds, for a minute.
await() {
    tries=0
    until "$@" >/dev/null 2>&1; do
        tries=$((tries + 1))
        [ $tries -lt 600 ] || fail "waited in vain: $*"
        sleep 0.1
    done
}
is_up() { curl -sf -o /dev/null "$url/own.php"; }
start() {
    apache2 -f "$folder/apache.conf" -DFOREGROUND >>"$folder/output.log" 2>&1 &
    apache_pid=$!
    await is_up
}
is_gone() { ! kill -0 "$1" 2>/dev/null; }
stop() {
    apache2 -f "$folder/apache.conf" -k "$1"
    await is_gone "$apache_pid"
    wait "$apache_pid" || true
    apache_pid=
    sound
}
# No crash, no leak, no failed assertion, no panic, no error of PHP's; but that a debug build now and then
# notices the handler of SIGTERM that Apache itself has set.
sound() {
    if grep -E 'exit signal|Freeing 0x|memory leaks|Assertion|panicked|PHP (Warning|Fatal|Notice)|core dump' "$folder"/*.log |
        grep -v -e '"soon" given' -e 'zend_signal: handler was replaced for signal (15)'; then
        fail "Apache's log tells of faults"
    fi
}

# Sends so many requests, so many at once, and reads what became of them.
load() {
    ab -q -r -s 120 -n "$1" -c "$2" "$url/$3" >"$folder/load" 2>&1 || fail "ab $3"
    ab_value() { sed -n "s/^$1: *\([0-9]*\).*/\1/p" "$folder/load"; }
    complete=$(ab_value 'Complete requests')
    failed=$(ab_value 'Failed requests')
    not_ok=$(ab_value 'Non-2xx responses')
    not_ok=${not_ok:-0}
}
# A bucket of 300 admits 300 of so many requests.
strict_count() {
    load "$2" 50 "take.php?store=$1&id=$3&capacity=300"
    [ "$complete" = "$2" ] && [ "$failed" = 0 ] && [ "$((complete - not_ok))" = 300 ] ||
        fail "$1: $((complete - not_ok)) of $complete admitted, $failed failed; a bucket holds 300"
}
all_ok() {
    load "$1" "${3:-50}" "$2"
    [ "$complete" = "$1" ] && [ "$failed" = 0 ] && [ "$not_ok" = 0 ] || {
        curl -s "$url/$2"
        fail "$2: $complete complete, $failed failed, $not_ok not OK"
    }
}
# In KiB.
memory() { ps -o rss= --ppid "$apache_pid" | awk '{ total += $1 } END { print total + 0 }'; }

# How many connections each server has from us.
connections() {
    case "$1" in
        redis)
            password=${TB_REDIS#redis://:}
            redis-cli --no-auth-warning -s "$TB_SERVERS/redis.sock" -a "${password%@*}" client list | grep -c 'name=token_bucket' || true
            ;;
        mysql) mariadb --no-defaults -S "$TB_SERVERS/mysql.sock" -u root -N -e "SELECT COUNT(*) FROM information_schema.processlist WHERE user = 'owner'" ;;
        # Less the one that asks.
        memcached) php -n -r '$s = stream_socket_client("tcp://" . parse_url($argv[1], PHP_URL_HOST) . ":" . parse_url($argv[1], PHP_URL_PORT));
            fwrite($s, "stats\r\nquit\r\n"); preg_match("/curr_connections (\d+)/", stream_get_contents($s), $found); echo $found[1] - 1;' "$TB_MEMCACHED" ;;
    esac
}

scenario() {
    configure "$1" "$2"
    before=$(connections memcached)
    start
    curl -sf "$url/prepare.php" >/dev/null || fail "$(curl -s "$url/prepare.php")"
    for store in shm redis memcached mysql; do
        strict_count $store 1500 "$1x$2"
        [ $store = shm ] && continue
        count=$(connections $store)
        [ $store != memcached ] || count=$((count - before))
        [ "$count" -gt 1 ] && [ "$count" -le $(($1 * $2)) ] || fail "$store: $count connections of $(($1 * $2)) threads"
    done
    echo "  exactly 300 of 1500 admitted on shm, redis, memcached, mysql; at most one connection a thread"
    all_ok 2000 own.php
    sound
    echo "  2000 requests with settings, clock, limits and errors of their own found no others'"
}

echo "One process, 25 threads"
scenario 1 25
for part in first second; do strict_count shm 400 "$part" && load 400 50 "$part/take.php?store=shm&id=apart&capacity=300" &&
    [ "$((complete - not_ok))" = 300 ] || fail "$part: $((complete - not_ok)) of $complete admitted"; done
[ -e "$folder"/tables-of-first/*/default.v13 ] && [ -e "$folder"/tables-of-second/*/default.v13 ] || fail "no tables of their own"
echo "  two sites with a shm_path of their own have tables of their own"
[ "$(curl -s "$url/local/own.php")" = own ] && grep -q 'token_bucket.timeout_ms must be milliseconds.*"soon" given' "$folder/apache.log" ||
    fail "a bad value in .htaccess"
echo "  a bad value in .htaccess is reported"

# Memory: two times the same, after everything is warm.
all_ok 1000 'work.php?store=shm'
first=$(memory)
all_ok 2000 'work.php?store=shm'
second=$(memory)
[ "$first" -gt 0 ] && [ $((second - first)) -lt 4096 ] || fail "memory: $first KiB, and after 200000 calls more $second KiB"
echo "  200000 calls more: $first KiB, then $second KiB"

# Graceful restarts while requests come: no request is lost, the bucket stays as it is.
(
    for _ in 1 2 3; do
        sleep 0.7
        apache2 -f "$folder/apache.conf" -k graceful
    done
) &
graceful=$!
load 3000 50 "take.php?store=shm&id=graceful&capacity=300"
wait $graceful
await is_up
sound
# Apache itself may close a connection that it has just accepted, without an answer.
admitted=$((complete - not_ok - failed))
[ "$complete" = 3000 ] && [ "$failed" -le 10 ] && [ "$admitted" -le 300 ] && [ "$admitted" -ge $((300 - failed)) ] ||
    fail "graceful restarts: $admitted of $complete admitted, $failed failed"
[ "$(curl -s "$url/take.php?store=shm&id=graceful&capacity=300")" = no ] || fail "graceful restarts: the bucket is not empty"
echo "  three graceful restarts under load: $admitted of 3000 admitted, $failed not answered"
ab -q -r -s 10 -n 100000 -c 20 "$url/work.php?store=redis" >"$folder/load" 2>&1 &
stopped=$!
sleep 1
stop graceful-stop
kill "$stopped" 2>/dev/null || true
wait "$stopped" 2>/dev/null || true
echo "  stopped under load"

echo "Two processes, 13 threads each"
scenario 2 13
stop stop

# What is made once, when the module starts, stays; and one block a thread, for Apache does not wait for
# their end. What is read or written wrongly is reported wherever it is.
echo "One process, four threads, under valgrind"
configure 1 4
USE_ZEND_ALLOC=0 ZEND_DONT_UNLOAD_MODULES=1 valgrind --leak-check=full --num-callers=40 --keep-debuginfo=yes --error-limit=no \
    --log-file="$folder/valgrind.out" apache2 -f "$folder/apache.conf" -X >>"$folder/output.log" 2>&1 &
apache_pid=$!
await is_up
all_ok 40 own.php 4
for store in shm redis memcached mysql; do all_ok 40 "work.php?store=$store" 4; done
kill -TERM "$apache_pid"
await is_gone "$apache_pid"
wait "$apache_pid" || true
apache_pid=
awk 'BEGIN { RS = "==[0-9]+== *\n" } /libtoken_bucket/ && !(/ in loss record / && /zend_startup_module|php_load_extension|still reachable| in [1-4] blocks are possibly lost/)' \
    "$folder/valgrind.out" >"$folder/found.log"
[ ! -s "$folder/found.log" ] || fail "valgrind"
grep -q 'LEAK SUMMARY' "$folder/valgrind.out" || fail "valgrind has not looked for leaks"
echo "  nothing of ours is lost, read or written wrongly"

echo
echo "Apache $(apache2 -v | sed -n 's,.*Apache/\([0-9.]*\).*,\1,p') mpm_event, 1 x 25 and 2 x 13 threads: exact counts on 4 stores, nothing mixed up, no leak, no crash"
