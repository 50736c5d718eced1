# For install.sh and uninstall.sh to source, after php.sh: where their files are.
if [ "$(id -u)" = 0 ]; then as_root=; else as_root=sudo; fi
folder=$("$php" -n -r 'echo PHP_EXTENSION_DIR;')
extension=$folder/token_bucket.so
# Debian's PHP has an ini file for each extension and links it into each SAPI's folder; elsewhere this is empty.
ini=/etc/php/$php_version/mods-available/token_bucket.ini
[ "${folder#/usr/lib/php/}" != "$folder" ] && [ -d "${ini%/*}" ] || ini=
commands=/usr/local/bin
shared=/usr/local/share/token-bucket
manual=/usr/local/share/man/man1

if owner=$(dpkg-query -S "$extension" 2>/dev/null); then
    owner=${owner%%:*}
    echo "$extension belongs to the Debian package $owner; remove that first: apt-get remove $owner" >&2
    exit 1
fi
