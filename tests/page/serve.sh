# The site of the tests under php-fpm, for scripts to source after php.sh and fpm.sh.
#
# serve_pages FOLDER copies the site and the page there, for the workers may be another user, and serves them.

serve_pages() {
    cp -R tests/page/site share "$1/"
    cp tests/page/limits.ini "$1/"
    chmod -R a+rX "$1/site" "$1/share" "$1/limits.ini"
    fpm_directives="php_admin_value[token_bucket.limits] = $1/limits.ini"
    fpm_start "$1" "$1/site"
    export PAGE_FOLDER="$1" PAGE_URL="http://127.0.0.1:$fpm_port"
}
