# For try-install.sh to source: checks of the Debian package in a fresh system.

# Makes a package with a higher version and a changed ini of a package.
# Usage: higher_version VERSION DEB NEW_DEB
higher_version() {
    dpkg-deb --raw-extract "$2" "$3.tree"
    sed -i "s/^Version: .*/Version: $1/" "$3.tree/DEBIAN/control"
    echo '; This line is new.' >>"$3.tree/etc/php/$php_version/mods-available/token_bucket.ini"
    dpkg-deb --root-owner-group -Zgzip --build "$3.tree" "$3" >>"$log"
    rm -r "$3.tree"
}
# Installs a package as administrators do: from a file, with apt. The default answer keeps an edited ini.
install_deb() {
    cp "$1" "$root/tmp/"
    packages -o Dpkg::Options::=--force-confdef "/tmp/${1##*/}"
}
installed_version() { chroot "$root" dpkg-query -W -f='${Version}' "$deb_name"; }
prefix_is() { as_root sh -c "test \"\$(php -r 'echo ini_get(\"token_bucket.prefix\");')\" = '$1'"; }
lacks_extension() { as_root sh -c '! php -m 2>&1 | grep token_bucket'; }

# Checks the package in a system that has no PHP.
# Usage: check_package DEB
check_package() {
    deb=$1 deb_name=php$php_version-token-bucket
    ini=$root/etc/php/$php_version/mods-available/token_bucket.ini
    higher_version 99-1 "$deb" "$folder/99.deb"
    higher_version 99-2 "$deb" "$folder/99-2.deb"

    install_deb "$deb"
    as_root sh -c 'php -m | grep -x token_bucket'
    # php-fpm comes later, and has the extension nevertheless.
    packages php-fpm libfcgi-bin
    works
    as_root php -d "token_bucket.limits=/usr/share/doc/$deb_name/examples/limits.ini" \
        -r 'exit(TokenBucket\limiter("search", "192.0.2.1")->consume() ? 0 : 1);'
    as_root sh -c 'zcat /usr/share/man/man1/token-bucket.1.gz | grep -x ".SH NAME"'
    as_root sh -c "cd /usr/share/token-bucket && ls status.php alerts.yml grafana.json integrations/*/README.md /usr/share/doc/$deb_name/examples/login.php /usr/share/doc/$deb_name/token_bucket.cdx.json"
    as_root sh -c 'grep -x "ExecStart=$(ls /usr/share/token-bucket/firewall/update-firewall) nft .*" /usr/lib/systemd/system/token-bucket-firewall.service && ! ls /etc/systemd/system/*/token-bucket-firewall.timer'
    as_root grep -x 'd /dev/shm/token_bucket-33 0700 www-data www-data' /usr/lib/tmpfiles.d/token-bucket.conf
    echo "    apt installed it with what it needs; limits.ini, the man page, tmpfiles.d and the firewall's units, which are off, are there"
    [ ! -d bin ] || { as_root token-bucket --help; echo "    token-bucket runs"; }

    sed -i 's/^;token_bucket.prefix.*/token_bucket.prefix = "mine:"/' "$ini"
    lines=$(wc -l <"$log")
    install_deb "$folder/99.deb"
    tail -n "+$lines" "$log" | grep -q "Processing triggers for php$php_version-fpm"
    [ "$(installed_version)" = 99-1 ]
    prefix_is mine:
    works
    as_root phpdismod -v "$php_version" -s cli token_bucket
    install_deb "$folder/99-2.deb"
    lacks_extension
    as_root phpquery -v "$php_version" -s fpm -m token_bucket
    as_root phpenmod -v "$php_version" token_bucket
    prefix_is mine:
    echo "    upgrades kept an edited ini, and an administrator's choice to disable it for the command line; they ask php-fpm to restart"

    as_root apt-get -qy remove "$deb_name"
    lacks_extension
    grep -q mine: "$ini"
    install_deb "$deb"
    prefix_is mine:
    works
    as_root apt-get -qy purge "$deb_name"
    gone
    install_deb "$deb"
    prefix_is tb:
    works
    as_root phpdismod -v "$php_version" token_bucket
    as_root apt-get -qy purge "$deb_name"
    install_deb "$deb"
    as_root sh -c 'php -m | grep -x token_bucket'
    echo "    removed, installed again, purged without a trace, and installed again"
}
