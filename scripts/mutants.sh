#!/bin/sh
# Changes the code in one place at a time, and lists the changes that no test notices: in target/mutants-FOLDER/mutants.out/missed.txt.
# First by the tests of the folder alone: seconds each. What they miss is tried again by those of the stores that the folder is for, of
# each kind one server: half a minute each. All are built without PHP, so what only phpt notices is missed.
# Usage: mutants.sh [FOLDER]...    src/limit, src/store/shm, src/store/swap and src/guard by default: hours
# JOBS= how many at once. .cargo/mutants.toml has what is left out.
set -euf
cd "$(dirname "$0")/.."

[ -n "${TB_SERVERS-}" ] || exec scripts/servers.sh scripts/mutants.sh "$@"

[ $# -gt 0 ] || set -- src/limit src/store/shm src/store/swap src/guard
cargo mutants --version >/dev/null 2>&1 || cargo install --locked --quiet cargo-mutants
export RUSTFLAGS="--cfg fuzzing"

mutants() {
    cargo mutants --package "$package" --file "$folder/**/*.rs" --file "$folder/*.rs" \
        --jobs "${JOBS:-1}" --output "$output" --no-shuffle "$@" || case $? in 2 | 3) ;; *) exit 1 ;; esac # missed, timed out
}
for folder in "$@"; do
    output=target/mutants-$(echo "$folder" | tr / -)
    rm -rf "$output"
    mkdir -p "$output"
    others="array redis_ memcached_ mariadb_ mysql two_memcacheds"
    case "$folder" in
        src/store/shm*) tests="conformance permits shared_memory sliding_window slot_words slot_protocol" others="$others redis:: memcached:: mariadb::" ;;
        src/store/swap*) tests="conformance permits swap_protocol" others="$others redis:: shared_memory" ;;
        *) tests="conformance permits lease_protocol" ;;
    esac
    module=$(echo "${folder#src/}/" | sed 's,/,::,g')
    # src/limit is a crate of its own.
    case "$folder" in
        src/limit*) package=token_bucket_limit module=${module#limit::} ;;
        *) package=token_bucket ;;
    esac
    CARGO_PROFILE_DEV_OPT_LEVEL=0 mutants --timeout 30 --cargo-arg=--lib -- -- "$module"
    # shellcheck disable=SC2046
    mutants --iterate --timeout 180 --test-package token_bucket $(printf -- ' --cargo-arg=--test=%s' $tests) -- -- $(printf -- ' --skip %s' $others)
done
