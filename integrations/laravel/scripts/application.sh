# For scripts to source, in the package's folder: make_application makes an application of the installed Laravel in $work, which
# has the package by Composer from a path repository, and starts a Redis. All of it ends and is removed with the script.
# STAND_IN=1 installs token-bucket/stand-in in the extension's place.
# Sets $php, $work, $application, and for the processes of the script PHP_INI_SCAN_DIR, REDIS_SOCKET, TB_LARAVEL_APP and TMPDIR.
package=$PWD
extension=${EXTENSION:-$(cd ../.. && pwd)/target/release/libtoken_bucket.so}
php=$(command -v "${PHP:-php}") || { echo "There is no ${PHP:-php}" >&2; exit 1; }

check_packages() {
    for program in composer phpunit redis-server redis-cli; do
        command -v "$program" >/dev/null || { echo "There is no $program: install the packages named in $package/packages" >&2; exit 1; }
    done
    [ -e /usr/share/php/Illuminate/autoload.php ] || { echo "Debian's php-laravel-framework is not installed" >&2; exit 1; }
    [ -e "$extension" ] || { echo "There is no $extension: run make build, or set EXTENSION=" >&2; exit 1; }
}

stop_all() {
    # Each of them leads a group of its own, so that its workers end with it.
    for pid in $(cat "$work/pids" 2>/dev/null); do
        kill -s KILL -- "-$pid" 2>/dev/null || true
    done
    rm -rf "$work"
}

# The installed configuration of PHP, but with the extension that is tested.
configure_php() {
    mkdir "$work/conf.d" "$work/tables"
    installed=$("$php" -n -r 'echo PHP_CONFIG_FILE_SCAN_DIR;')
    for file in "$installed"/*.ini; do
        case "$file" in *token_bucket*) ;; *) cp "$file" "$work/conf.d/" ;; esac
    done
    # For a test of what happens without the extension.
    cp -R "$work/conf.d" "$work/conf.d-without"
    {
        [ -n "${STAND_IN-}" ] || echo "extension=$extension"
        echo "token_bucket.shm_path=$work/tables"
        echo "apc.enable_cli=1"
        echo "opcache.enable_cli=1"
    } >"$work/conf.d/99-token_bucket.ini"
    export PHP_INI_SCAN_DIR="$work/conf.d"
}

# Starts a command in the background that ends with the script.
start() {
    setsid "$@" &
    started=$!
    echo "$started" >>"$work/pids"
}

start_redis() {
    export REDIS_SOCKET="$work/redis.sock"
    start redis-server --port 0 --unixsocket "$REDIS_SOCKET" --save '' --dir "$work" >"$work/redis.log" 2>&1
    tries=0
    until redis-cli -s "$REDIS_SOCKET" ping >/dev/null 2>&1; do
        tries=$((tries + 1))
        [ $tries -lt 100 ] || { cat "$work/redis.log" >&2; exit 1; }
        sleep 0.05
    done
}

run_composer() {
    COMPOSER_ALLOW_SUPERUSER=1 COMPOSER_HOME=$work/composer "$php" "$(command -v composer)" \
        --working-dir="$application" --no-interaction "$@" >>"$work/composer.log" 2>&1 ||
        { cat "$work/composer.log" >&2; exit 1; }
}

# The lines of the README. The framework is Debian's, so Composer is told that it is there.
install_package() {
    version=$("$php" -r 'require "/usr/share/php/Illuminate/autoload.php"; echo Illuminate\Foundation\Application::VERSION;')
    provided=
    for component in cache console container http queue routing support; do
        provided="$provided${provided:+, }\"illuminate/$component\": \"$version\""
    done
    cat >"$application/composer.json" <<JSON
{
    "repositories": {"packagist.org": false},
    "provide": {$provided},
    "autoload": {"psr-4": {"App\\\\": "app/", "TokenBucket\\\\Laravel\\\\Tests\\\\": "$package/tests/"}}
}
JSON
    run_composer config repositories.token-bucket path "$package"
    if [ -n "${STAND_IN-}" ]; then
        run_composer config repositories.stand-in path "$package/../stand-in"
        run_composer require token-bucket/stand-in:@dev
    fi
    run_composer require token-bucket/laravel:@dev
}

make_application() {
    check_packages
    work=$(mktemp -d /tmp/token_bucket-laravel.XXXXXX)
    trap stop_all EXIT
    trap 'exit 130' INT TERM
    configure_php
    start_redis
    application=$work/app
    cp -R tests/app "$application"
    mkdir -p "$application/bootstrap/cache" "$application/storage/framework/cache/data" \
        "$application/storage/framework/views" "$application/storage/logs"
    install_package
    export TB_LARAVEL_APP="$application" TMPDIR="$work"
}
