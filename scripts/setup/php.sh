# For scripts to source: sets $php, $php_version (8.2) and $php_config for the php on the PATH, or PHP=.
php=$(command -v "${PHP:-php}") || { echo "There is no ${PHP:-php}" >&2; exit 1; }
php_version=$("$php" -n -r 'echo PHP_MAJOR_VERSION, ".", PHP_MINOR_VERSION;')
php_config=$(dirname "$php")/php-config
# Debian has a php-config for each version.
[ ! -x "$php_config$php_version" ] || php_config=$php_config$php_version

# Options that load those of these extensions that this PHP has not built in.
load() {
    for extension; do
        "$php" -n -m | grep -qix "$extension" || printf -- '-d extension=%s ' "$extension"
    done
}
