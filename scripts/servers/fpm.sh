# A private php-fpm behind a private nginx, for scripts to source, after php.sh.
#
# fpm_start FOLDER DOCUMENT_ROOT starts both and sets $fpm_port; FOLDER holds everything they write. fpm_stop stops
# them. Both work as root and as an ordinary user. $fpm_directives, if set, has further lines for the pool, $nginx_directives for
# nginx's server.
. scripts/servers/free_port.sh

fpm_binary() {
    for candidate in "php-fpm$php_version" php-fpm; do
        for folder in /usr/sbin /usr/local/sbin /usr/bin; do
            [ -x "$folder/$candidate" ] && { echo "$folder/$candidate"; return; }
        done
    done
    echo "No php-fpm for PHP $php_version found" >&2
    return 1
}

fpm_start() {
    fpm_folder=$1
    user=$(id -un)
    as_user=
    # Root's workers run as the web servers' user, as in production.
    if [ "$(id -u)" = 0 ]; then
        user=www-data
        as_user="user = $user"
        # Its workers make tables there, and no other file of it is theirs.
        chmod 1777 "$fpm_folder"
    fi
    fpm_port=$(free_port)

    cat >"$fpm_folder/fpm.conf" <<EOF
[global]
error_log = $fpm_folder/fpm.log
daemonize = no
[www]
$as_user
listen = $fpm_folder/fpm.sock
listen.mode = 0666
pm = static
pm.max_children = 4
php_admin_value[token_bucket.shm_path] = $fpm_folder
${fpm_directives-}
EOF
    cat >"$fpm_folder/nginx.conf" <<EOF
pid $fpm_folder/nginx.pid;
error_log $fpm_folder/nginx.log;
daemon off;
$([ "$(id -u)" = 0 ] && echo "user $user;")
events {}
http {
    access_log off;
    client_body_temp_path $fpm_folder/body;
    proxy_temp_path $fpm_folder/proxy;
    fastcgi_temp_path $fpm_folder/fastcgi;
    uwsgi_temp_path $fpm_folder/uwsgi;
    scgi_temp_path $fpm_folder/scgi;
    server {
        listen 127.0.0.1:$fpm_port;
        ${nginx_directives-}
        location / {
            fastcgi_pass unix:$fpm_folder/fpm.sock;
            fastcgi_param SCRIPT_FILENAME $2\$uri;
            fastcgi_param REQUEST_METHOD \$request_method;
            fastcgi_param CONTENT_TYPE \$content_type;
            fastcgi_param CONTENT_LENGTH \$content_length;
            fastcgi_param QUERY_STRING \$query_string;
            fastcgi_param REMOTE_ADDR \$remote_addr;
            fastcgi_param SCRIPT_NAME \$uri;
            fastcgi_param REQUEST_START \$msec;
        }
    }
}
EOF
    fpm_options=-n
    [ "$(id -u)" = 0 ] && fpm_options="-n -R"
    # shellcheck disable=SC2086
    "$(fpm_binary)" $fpm_options -y "$fpm_folder/fpm.conf" \
        -d extension="${EXTENSION:-$PWD/target/release/libtoken_bucket.so}" >"$fpm_folder/fpm.out" 2>&1 &
    fpm_pid=$!
    nginx -c "$fpm_folder/nginx.conf" -e "$fpm_folder/nginx.log" >"$fpm_folder/nginx.out" 2>&1 &
    nginx_pid=$!
    tries=0
    until curl -s -o "$fpm_folder/ready" "http://127.0.0.1:$fpm_port/" && [ -S "$fpm_folder/fpm.sock" ]; do
        tries=$((tries + 1))
        if [ "$tries" -gt 50 ]; then
            cat "$fpm_folder"/*.log "$fpm_folder"/*.out >&2
            return 1
        fi
        sleep 0.1
    done
}

fpm_stop() {
    for pid in ${nginx_pid-} ${fpm_pid-}; do
        kill -TERM "$pid" 2>/dev/null && wait "$pid" 2>/dev/null
    done
    nginx_pid=
    fpm_pid=
    return 0
}
