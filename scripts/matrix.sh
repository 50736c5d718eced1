#!/bin/sh
# Builds the extension for several PHPs and tests it on each. Ends with a table, and the result in the last line.
# What passes is written into docs/install.md.
# ONLY=PART,PART names the parts to run: host debian-13 debian-testing php85 php86 debug zts threads musl arm64 revolt fleet stand-in frankenphp roadrunner;
# all by default, of the last three those whose program is there (npm, frankenphp, rr). FRANKENPHP= and RR= name the programs; that of FrankenPHP must be linked with a
# libphp.so beside which its PHP is (`scripts/matrix/source.sh embed` builds one).
set -eu
cd "$(dirname "$0")/.."

all="host debian-13 debian-testing php85 php86 debug zts threads musl arm64 revolt fleet stand-in frankenphp roadrunner"
frankenphp=$(command -v "${FRANKENPHP:-frankenphp}" || true)
rr=$(command -v "${RR:-rr}" || true)
default=$all
command -v npm >/dev/null || default=$(echo "$default" | sed 's/ stand-in//')
[ -n "$frankenphp" ] || default=$(echo "$default" | sed 's/ frankenphp//')
[ -n "$rr" ] || default=$(echo "$default" | sed 's/ roadrunner//')
parts=$(echo "${ONLY:-$default}" | tr ',' ' ')
for part in $parts; do
    case " $all " in *" $part "*) ;; *) echo "There is no part $part: $all" >&2; exit 2 ;; esac
done

logs=$PWD/target/matrix
mkdir -p "$logs"

# Builds the extension for a PHP and its headers, in a target folder of its own, and prints its path.
extension_for() {
    target=$PWD/target$2
    PHP=$1 CARGO_TARGET_DIR=$target scripts/build.sh >&2 &&
        echo "$target/release/libtoken_bucket.so"
}
phpt() { PHP=$1 EXTENSION=$2 scripts/servers.sh scripts/phpt.sh; }
version() { "$1" -n -r 'echo PHP_VERSION;'; }

host() {
    php=$(command -v php)
    version "$php" >"$logs/host.version"
    extension=$(extension_for "$php" "")
    phpt "$php" "$extension"
}
debian() {
    scripts/matrix/debian.sh "$1" scripts/matrix/debian-inside.sh
}
# A PHP that only Debian experimental has.
experimental() { PHP_VERSION=$1 debian unstable; }
# The PHP and the extension of a debug build.
debug_build() {
    folder=$(scripts/matrix/source.sh "$1")
    version "$folder/bin/php" >"$logs/$2.version"
    extension=$(extension_for "$folder/bin/php" "/matrix/$1-debug")
}
debug() {
    debug_build nts debug
    phpt "$folder/bin/php" "$extension"
}
zts() {
    debug_build zts zts
    phpt "$folder/bin/php" "$extension"
}
threads() {
    debug_build zts threads
    scripts/servers.sh scripts/matrix/threads.sh "$folder" "$extension"
}
musl() {
    folder=$(scripts/matrix/source.sh musl)
    version "$folder/bin/php" >"$logs/musl.version"
    # Debian's libgcc_s needs glibc; Rust's own unwinder for musl takes its place.
    target=$logs/musl
    mkdir -p "$target"
    rustup target list --installed | grep -qx x86_64-unknown-linux-musl || rustup target add x86_64-unknown-linux-musl
    echo "INPUT($(rustc --print sysroot)/lib/rustlib/x86_64-unknown-linux-musl/lib/self-contained/libunwind.a)" >"$target/libgcc_s.so"
    CARGO_TARGET_X86_64_UNKNOWN_LINUX_MUSL_LINKER=musl-gcc CC_x86_64_unknown_linux_musl=musl-gcc CARGO_TARGET_DIR=$target/target \
        CARGO_TARGET_X86_64_UNKNOWN_LINUX_MUSL_RUSTFLAGS="-C target-feature=-crt-static,+cmpxchg16b -C link-self-contained=no -L $target" \
        PHP=$folder/bin/php PHP_CONFIG=$folder/bin/php-config cargo build --locked --quiet --target x86_64-unknown-linux-musl
    phpt "$folder/bin/php" "$target/target/x86_64-unknown-linux-musl/debug/libtoken_bucket.so"
}
arm64() { scripts/servers.sh scripts/matrix/arm64.sh; }
revolt() {
    php=$(command -v php)
    version "$php" >"$logs/revolt.version"
    extension=$(extension_for "$php" "")
    PHP=$php EXTENSION=$extension scripts/test/revolt.sh
}
# OLD= names the older version: the last tag, or the last commit before busy keys were asked for in batches.
fleet() {
    php=$(command -v php)
    version "$php" >"$logs/fleet.version"
    extension=$(extension_for "$php" "")
    old=${OLD:-$(git describe --tags --abbrev=0 2>/dev/null || echo c76ddf6)}
    scripts/servers.sh scripts/matrix/fleet.sh "$old" "$extension"
}
stand_in() {
    php=$(command -v php)
    echo 'several' >"$logs/stand-in.version"
    extension=$(extension_for "$php" "")
    scripts/matrix/stand-in.sh "$extension"
}
frankenphp() {
    [ -n "$frankenphp" ] || { echo "There is no frankenphp: name one with FRANKENPHP="; return 1; }
    libphp=$(ldd "$frankenphp" | sed -n 's/.*libphp.* => \([^ ]*\).*/\1/p')
    folder=$(dirname "$(dirname "${libphp:?frankenphp is not linked with a libphp.so}")")
    version "$folder/bin/php" >"$logs/frankenphp.version"
    extension=$(extension_for "$folder/bin/php" "/matrix/embed-debug")
    scripts/servers.sh scripts/matrix/frankenphp.sh "$frankenphp" "$extension"
}
roadrunner() {
    [ -n "$rr" ] || { echo "There is no rr: name one with RR="; return 1; }
    php=$(command -v php)
    version "$php" >"$logs/roadrunner.version"
    extension=$(extension_for "$php" "")
    scripts/servers.sh scripts/matrix/roadrunner.sh "$rr" "$php" "$extension"
}

# Writes which PHP a part has passed on, and at which commit, into its row of docs/install.md. Not if files differ from that commit.
note_passed() {
    [ -n "$2" ] || return 0
    [ -z "$(git status --porcelain -- . ':!docs/install.md')" ] || return 0
    commit=$(git log -1 --format='`%h`, %as')
    sed -i "s#^| \`$1\` | [^|]* | \([^|]*\) | [^|]* |\$#| \`$1\` | $2 | \1 | $commit |#" docs/install.md
}

# Runs a part, adds its row to the table, and writes its output to a log.
failed=
rows=
run() {
    name=$1 build=$2 begun=$(date +%s)
    log=$logs/$name.log
    echo "$name ..."
    rm -f "$logs/$name.version"
    # Not in a condition, where `set -e` has no effect.
    set +e
    (set -e; shift 2; "$@") >"$log" 2>&1
    status=$?
    set -e
    case "$name" in
        threads | arm64 | revolt | fleet | stand-in | frankenphp | roadrunner) ran=$(tail -n 1 "$log" | grep -E '^(Apache|ARM64|Revolt|Old and new|The stand-in|FrankenPHP|RoadRunner)' || true) ;;
        *) ran="phpt: $(grep -a ' passed, ' "$log" | grep -a -m 1 'second try' || true)" ;;
    esac
    php=$(cat "$logs/$name.version" 2>/dev/null || sed -n 's/^PHP \([0-9][0-9A-Za-z.]*\)$/\1/p' "$log")
    if [ $status = 0 ]; then
        result=passed
        note_passed "$name" "$php"
    else
        result=FAILED
        failed="$failed $name"
        tail -n 60 "$log"
    fi
    rows="$rows$name|$php|$build|$result|$(($(date +%s) - begun)) s|$ran
"
}
for part in $parts; do
    case "$part" in
        host) run host "NTS, $(. /etc/os-release && echo "${ID} $VERSION_ID")" host ;;
        debian-13) run debian-13 "NTS, debian 13" debian trixie ;;
        debian-testing) run debian-testing "NTS, debian testing" debian forky ;;
        php85) run php85 "NTS, experimental" experimental 8.5 ;;
        php86) run php86 "NTS, experimental" experimental 8.6 ;;
        debug) run debug "NTS debug" debug ;;
        zts) run zts "ZTS debug" zts ;;
        threads) run threads "ZTS debug" threads ;;
        musl) run musl "NTS debug, musl" musl ;;
        arm64) run arm64 "NTS, debian 13" arm64 ;;
        revolt) run revolt "NTS" revolt ;;
        fleet) run fleet "NTS" fleet ;;
        stand-in) run stand-in "WebAssembly" stand_in ;;
        frankenphp) run frankenphp "ZTS" frankenphp ;;
        roadrunner) run roadrunner "NTS" roadrunner ;;
    esac
done

printf '\n%-14s %-8s %-19s %-7s %7s  %s\n' part PHP build result took what
printf '%s' "$rows" | while IFS='|' read -r part php build result took ran; do
    printf '%-14s %-8s %-19s %-7s %7s  %s\n' "$part" "$php" "$build" "$result" "$took" "$ran"
done
if [ -n "$failed" ]; then
    printf '\nThe matrix failed:%s; see target/matrix\n' "$failed"
    exit 1
fi
printf '\nThe matrix passed.\n'
