#!/bin/sh
# Looks for errors of memory with tools. The table at the end names the parts that this machine cannot run, and why.
# Usage: sanitize.sh [short] [valgrind|asan|miri|flat]...    all four by default
#        sanitize.sh build                                     only builds for AddressSanitizer
set -eu
cd "$(dirname "$0")/.."

[ -n "${TB_SERVERS-}" ] || [ "${1-}" = build ] || exec scripts/servers.sh scripts/sanitize.sh "$@"

short=
[ "${1-}" != short ] || { short=1; shift; }
if [ $# = 0 ]; then
    set -- valgrind asan miri
    # make test runs a shorter form of it among the phpt files.
    [ -n "$short" ] || set -- "$@" flat
fi

target=$(rustc -vV | sed -n 's/^host: //p')
folder=$PWD/target/sanitize
mkdir -p "$folder"
table=$(mktemp)
output=$(mktemp)
trap 'rm -f "$table" "$output"' EXIT
trap 'exit 130' INT TERM
failed=

add_row() { printf '%-52s %s\n' "$1" "$2" >>"$table"; }
leave_out() { echo "Left out: $2"; add_row "$1" "left out: $2"; }
# Runs a command and adds its result and the number of its tests to the table.
run() {
    name=$1
    shift
    printf '\n== %s\n' "$name"
    status=0
    "$@" >"$output" 2>&1 || status=$?
    cat "$output"
    if [ $status = 0 ]; then
        count=$(grep -aoE '[0-9]+ passed' "$output" | awk '{ sum += $1 } END { if (NR) print ": " sum " tests" }')
        add_row "$name" "passed$count"
    else
        add_row "$name" FAILED
        failed=1
    fi
}

# Tests that fork, flood or start php-fpm are left out: valgrind runs them for minutes, on the same code.
local_tests="php-tests/01_class php-tests/03_ini php-tests/04_errors php-tests/05_reflection php-tests/09_statistics
    php-tests/02_storages/contract.phpt php-tests/02_storages/test_clock.phpt php-tests/02_storages/vectors.phpt
    php-tests/02_storages/php_storage.phpt php-tests/02_storages/php_storage_error.phpt
    php-tests/02_storages/php_storage_destructors.phpt php-tests/02_storages/php_storage_fibers.phpt php-tests/08_memory/flat.phpt"

valgrind_phpt() {
    tests=$local_tests
    # What starts other PHPs takes minutes; the short form leaves the same code to the folders' other tests.
    [ -z "$short" ] || tests=$(find $tests -name '*.phpt' -exec grep -L PHP_BINARY {} +)
    run "PHP under valgrind" scripts/phpt.sh -m -s $tests
}

# The flags of .cargo/config.toml, which RUSTFLAGS overrides.
rust_flags=
case "$target" in x86_64-*) rust_flags="-C target-feature=+cmpxchg16b" ;; esac

# AddressSanitizer checks every access of the Rust code. RUSTC_BOOTSTRAP allows the stable compiler this nightly option.
# The runtime is gcc's, because Rust's cannot be loaded into a PHP that is running.
asan_runtime=$(cc -print-file-name=libasan.so)
asan_folder=$folder/asan
# The test programs must load the runtime first, as PHP must.
asan_runner=CARGO_TARGET_$(echo "$target" | tr 'a-z-' 'A-Z_')_RUNNER
with_asan() {
    env "$asan_runner=env LD_PRELOAD=$asan_runtime ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0" RUSTC_BOOTSTRAP=1 CARGO_PROFILE_DEV_OPT_LEVEL=0 ASAN_OPTIONS=verify_asan_link_order=0 RUSTFLAGS="$rust_flags -Zsanitizer=address -Zexternal-clangrt" CARGO_TARGET_DIR="$asan_folder" \
        "$@" --locked --quiet --target "$target"
}
asan() {
    if [ ! -e "$asan_runtime" ]; then
        leave_out "AddressSanitizer" "the C compiler brings no libasan"
        return
    fi
    mkdir -p "$asan_folder/bin"
    cc -shared -fPIC -o "$asan_folder/dlopen.so" scripts/sanitize/dlopen.c
    . scripts/setup/php.sh
    ln -sf "$php_config" "$asan_folder/bin/php-config"
    # Leaks are found by php-tests/08_memory; here they would include what PHP allocates once and never frees.
    write_program bin/php "export LD_PRELOAD='$asan_folder/dlopen.so $asan_runtime' USE_ZEND_ALLOC=0 ZEND_DONT_UNLOAD_MODULES=1
export ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0:log_path=$asan_folder/report
exec '$php' \"\$@\""

    run "AddressSanitizer: build" with_asan cargo build
    [ $status = 0 ] || return 0
    nm -D "$asan_folder/$target/debug/libtoken_bucket.so" | grep -q __asan_report_load ||
        { add_row "AddressSanitizer: is it in the build?" FAILED; failed=1; return; }
    tests=$local_tests
    [ -n "$short" ] || tests="php-tests/01_class php-tests/02_storages php-tests/03_ini php-tests/04_errors php-tests/05_reflection
        php-tests/07_servers php-tests/08_memory php-tests/09_statistics"
    run "AddressSanitizer: PHP" asan_phpt $tests
    # Without the model checker: AddressSanitizer takes loom's switches of stacks for overflows.
    [ -n "$short" ] || run "AddressSanitizer: Rust" with_asan cargo test --lib --test conformance --test shared_memory --test slot_words
}
asan_phpt() {
    rm -f "$asan_folder"/report.*
    passed=1
    PHP="$asan_folder/bin/php" EXTENSION="$asan_folder/$target/debug/libtoken_bucket.so" scripts/phpt.sh "$@" || passed=
    # The reports of all processes, of children too.
    for report in "$asan_folder"/report.*; do
        [ ! -e "$report" ] || { cat "$report"; passed=; }
    done
    [ -n "$passed" ]
}
write_program() {
    printf '#!/bin/sh\n%s\n' "$2" >"$asan_folder/$1"
    chmod 755 "$asan_folder/$1"
}

# Unsafe code that needs no file, server or PHP; the limits have none. The slot protocol in plain memory: Miri supports neither PHP nor
# shared mappings.
miri() {
    name="Miri: what needs no file, server or PHP"
    # An older nightly is taken if the newest lacks it.
    if ! cargo +nightly miri --version >/dev/null 2>&1 &&
        ! rustup toolchain install nightly --allow-downgrade --profile minimal --component miri,rust-src >"$folder/rustup" 2>&1; then
        tail -n 3 "$folder/rustup"
        leave_out "$name" "rustup cannot install Miri"
        return
    fi
    run "$name" with_miri --lib -- mapped::claimed mapped::fields mapped::set mapped::text
    [ -n "$short" ] || run "Miri: the slot protocol by threads" with_miri --test slot_words
}
with_miri() {
    env RUSTFLAGS="$rust_flags" CARGO_TARGET_DIR="$folder/miri" MIRIFLAGS="-Zmiri-disable-isolation" PROPTEST_CASES=1 \
        cargo +nightly miri test --locked --quiet "$@"
}

flat() {
    run "A million of each call, object and exception" env TB_MEMORY_TIMES=1000000 TEST_TIMEOUT=3600 scripts/phpt.sh php-tests/08_memory
}

if [ "$*" = build ]; then
    [ ! -e "$asan_runtime" ] || with_asan cargo build
    exit
fi
for part; do
    case "$part" in
        valgrind) valgrind_phpt ;;
        asan) asan ;;
        miri) miri ;;
        flat) flat ;;
        *) echo "usage: $0 [short] [valgrind|asan|miri|flat]..." >&2; exit 2 ;;
    esac
done

printf '\n'
cat "$table"
[ -z "$failed" ] || { echo "Memory: failed."; exit 1; }
grep -q passed "$table" || { echo "Memory: nothing was run."; exit 1; }
if grep -q 'left out' "$table"; then echo "Memory: passed, but for what is left out."; else echo "Memory: passed."; fi
