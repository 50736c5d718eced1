#!/bin/sh
# Runs the plugin's tests against this system's WordPress, php-fpm, nginx and MariaDB, in a folder of their own.
# Usage: run-tests.sh [ARGUMENTS OF PHPUNIT]    EXTENSION= names another build of the extension, PHP= another PHP
# STAND_IN=1 puts the stand-in in plain PHP into the plugin, and loads no extension.
set -eu
cd "$(dirname "$0")/../.."
. scripts/setup/php.sh
extension=$(realpath -m "${EXTENSION:-target/release/libtoken_bucket.so}")
tests=$PWD/integrations/wordpress/tests
[ -e "$extension" ] || { echo "There is no extension at $extension: run make build, or set EXTENSION=" >&2; exit 1; }

folder=$(mktemp -d /tmp/token_bucket-wordpress.XXXXXX)
pids=
stop() {
    for pid in $pids; do kill -TERM "$pid" 2>/dev/null || true; done
    for pid in $pids; do wait "$pid" 2>/dev/null || true; done
    ! mountpoint -q "$folder/squatted" || umount "$folder/squatted"
    rm -rf "$folder"
}
trap stop EXIT
trap 'exit 130' INT TERM

start() {
    name=$1
    shift
    "$@" >"$folder/$name.out" 2>&1 &
    pids="$pids $!"
}
# Waits ten seconds at most until a command succeeds.
await() {
    tries=0
    until "$@" >/dev/null 2>&1; do
        tries=$((tries + 1))
        [ $tries -lt 200 ] || { echo "A server did not start: $*" >&2; tail -n 5 "$folder"/*.out "$folder"/*.log >&2; exit 1; }
        sleep 0.05
    done
}

# Root's workers run as the web servers' user, as in production.
user=$(id -un) fpm_user= fpm_options= nginx_user=
if [ "$(id -u)" = 0 ]; then
    user=www-data fpm_user="user = www-data" fpm_options=-R nginx_user="user www-data;"
fi

# MariaDB
mariadb-install-db --no-defaults --datadir="$folder/mariadb" --skip-test-db --auth-root-authentication-method=normal \
    --user="$(id -un)" >"$folder/mariadb-install.out" 2>&1 || { cat "$folder/mariadb-install.out" >&2; exit 1; }
start mariadb mariadbd --no-defaults --datadir="$folder/mariadb" --user="$(id -un)" --socket="$folder/mariadb.sock" \
    --skip-networking --pid-file="$folder/mariadb.pid" --tmpdir="$folder" --innodb-flush-log-at-trx-commit=0 \
    --innodb-buffer-pool-size=64M --max-connections=200

# WordPress, with the plugin
wordpress=$folder/wordpress
mkdir "$wordpress" "$folder/state" "$folder/shm" "$folder/squatted"
(cd /usr/share/wordpress && tar -c --exclude=./wp-content --exclude=./wp-config.php --exclude=./.htaccess .) | tar -x -C "$wordpress"
mkdir -p "$wordpress/wp-content/plugins" "$wordpress/wp-content/mu-plugins" "$wordpress/wp-content/themes"
cp -R "$tests/../token-bucket-login-guard" "$wordpress/wp-content/plugins/"
[ -z "${STAND_IN-}" ] || cp -R "$tests/../../stand-in" "$wordpress/wp-content/plugins/token-bucket-login-guard/"
cp "$tests/observer.php" "$wordpress/wp-content/mu-plugins/"
cp "$tests/wp-config.php" "$wordpress/"
"$php" -n -r 'echo time();' >"$folder/state/clock"
set -- $("$php" -n -r 'foreach ([1, 2, 3, 4] as $i) { $held[] = $s = stream_socket_server("tcp://127.0.0.1:0"); echo explode(":", stream_socket_get_name($s, false))[1], " "; }') "$@"
single=127.0.0.1:$1 network=127.0.0.1:$2 without=127.0.0.1:$3 squatted=127.0.0.1:$4
shift 4
printf %s "$network" >"$folder/state/network"

# php-fpm with the extension, without it, and with tables in a folder that a test takes away. All have Debian's other extensions.
mkdir "$folder/conf.d"
for ini in "/etc/php/$php_version/fpm/conf.d"/*.ini; do
    case $ini in *token_bucket*) ;; *) ln -s "$ini" "$folder/conf.d/" ;; esac
done
export PHP_INI_SCAN_DIR="$folder/conf.d"
fpm=$(command -v "php-fpm$php_version" || command -v php-fpm)
# Usage: fpm_start NAME WORKERS [OPTION]...
fpm_start() {
    printf '%s\n' '[global]' "error_log = $folder/$1.log" 'daemonize = no' '[www]' "$fpm_user" "listen = $folder/$1.sock" \
        'listen.mode = 0666' 'pm = static' "pm.max_children = $2" >"$folder/$1.conf"
    name=$1
    shift 2
    # shellcheck disable=SC2086
    start "$name" "$fpm" $fpm_options -y "$folder/$name.conf" "$@"
}
[ -z "${STAND_IN-}" ] || extension=
fpm_start with 8 ${extension:+-d extension="$extension"} -d token_bucket.test_clock=1 -d token_bucket.shm_path="$folder/shm"
fpm_start without 2
fpm_start squatted 2 ${extension:+-d extension="$extension"} -d token_bucket.test_clock=1 -d token_bucket.shm_path="$folder/squatted"

# nginx: two sites with the extension, one of them a multisite, and the first once more on each other php-fpm
server() {
    cat <<EOF
    server {
        listen $1;
        error_log $folder/nginx-$3.log;
        root $wordpress;
        index index.php;
        location ~ \.php\$ {
            include /etc/nginx/fastcgi_params;
            fastcgi_param SCRIPT_FILENAME \$document_root\$fastcgi_script_name;
            # Newer settings of Debian leave the port out.
            fastcgi_param HTTP_HOST $1;
            fastcgi_param TEST_SITE $3;
            fastcgi_pass unix:$folder/$2.sock;
        }
    }
EOF
}
cat >"$folder/nginx.conf" <<EOF
pid $folder/nginx.pid;
daemon off;
$nginx_user
events { worker_connections 1000; }
http {
    access_log off;
    client_body_temp_path $folder/body;
    proxy_temp_path $folder/proxy;
    fastcgi_temp_path $folder/fastcgi;
    uwsgi_temp_path $folder/uwsgi;
    scgi_temp_path $folder/scgi;
$(server "$single" with single)
$(server "$network" with network)
$(server "$without" without without)
$(server "$squatted" squatted squatted)
}
EOF
chmod 755 "$folder"
start nginx nginx -c "$folder/nginx.conf" -e "$folder/nginx.log"

await mariadb-admin --no-defaults -S "$folder/mariadb.sock" -u root ping
mariadb --no-defaults -S "$folder/mariadb.sock" -u root -e 'CREATE DATABASE wordpress CHARACTER SET utf8mb4'
for site in single network; do
    if [ $site = single ]; then host=$single; else host=$network; fi
    "$php" "$tests/install.php" "$wordpress" $site "$host" >"$folder/install-$site.out" 2>&1 ||
        { cat "$folder/install-$site.out" >&2; exit 1; }
done
[ "$(id -u)" != 0 ] || chown -R "$user" "$folder/state" "$folder/shm" "$wordpress"
await test -S "$folder/with.sock"
await test -S "$folder/without.sock"
await test -S "$folder/squatted.sock"

status=0
TEST_FOLDER="$folder" TEST_SINGLE="$single" TEST_NETWORK="$network" TEST_WITHOUT="$without" TEST_SQUATTED="$squatted" TEST_USER="$user" \
    "$php" "$(command -v phpunit)" --no-configuration --do-not-cache-result --bootstrap "$tests/Site.php" --log-junit "$folder/junit.xml" "$@" "$tests" >"$folder/phpunit.out" 2>&1 &
# In the background, so that the end of this script ends it, too.
pids="$! $pids"
wait $! || status=$?
[ $status = 0 ] || cat "$folder/phpunit.out"
"$php" scripts/test/phpunit_summary.php wordpress "$folder/junit.xml" || status=1
exit $status
