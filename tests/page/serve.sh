# The site of the tests under php-fpm, and Chromium where there is one, for scripts to source in the project's folder.
#
# Sets $folder, which holds everything they write, and exports what the PHP files beside this one read. All of it is
# stopped and removed when the script ends.
. scripts/setup/php.sh
. scripts/servers/fpm.sh
. scripts/servers/chromium.sh

folder=$(mktemp -d /tmp/token_bucket-page.XXXXXX)
chmod 755 "$folder"
trap 'chromium_stop; fpm_stop; rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM

# Copies, because the workers of root are another user, which may be unable to read this folder.
cp -R tests/page/site share "$folder/"
cp tests/page/limits.ini "$folder/"
chmod -R a+rX "$folder/site" "$folder/share" "$folder/limits.ini"
fpm_directives="php_admin_value[token_bucket.limits] = $folder/limits.ini
php_admin_value[auto_prepend_file] = $folder/site/strict.php"
fpm_start "$folder" "$folder/site"
export EXTENSION="${EXTENSION:-$PWD/target/release/libtoken_bucket.so}"
export PAGE_FOLDER="$folder" PAGE_URL="http://127.0.0.1:$fpm_port"

if command -v chromedriver >/dev/null && command -v chromium >/dev/null; then
    chromium_start "$folder"
    export CHROMIUM_DRIVER="$chromium_url"
fi
