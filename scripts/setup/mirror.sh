# For scripts to source: sets $mirror to the Debian mirror in apt's settings.
mirror=$(sed -nE 's/^URIs: *(\S+).*/\1/p; s/^deb +(\[[^]]*\] +)?(\S+).*/\2/p' \
    /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources 2>/dev/null |
    grep -m 1 '/debian/*$') || { echo "apt's settings name no mirror of Debian" >&2; exit 1; }
