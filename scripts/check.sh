#!/bin/sh
# The checks that are long by nature, in short forms: memory under valgrind, AddressSanitizer and Miri, fuzzing, endurance.
# The last line is the result.
set -eu
cd "$(dirname "$0")/.."
. scripts/test/steps.sh

[ -n "${TB_SERVERS-}" ] || exec scripts/servers.sh scripts/check.sh

step "Build"
# The release is optimised as a whole, by one core; the other builds take the others.
{ scripts/sanitize.sh build && scripts/fuzz.sh build; } >/dev/null &
make --no-print-directory build
wait $!

step "PHP: the release"
# make test runs all on a build that checks itself; here it is what the optimiser could change.
scripts/phpt.sh php-tests/01_class php-tests/02_storages php-tests/06_fpm php-tests/08_memory php-tests/09_statistics

step "Memory: valgrind, AddressSanitizer and Miri"
# Miri runs on one core.
miri=$(mktemp)
trap 'rm -f "$miri"' EXIT
scripts/sanitize.sh short miri >"$miri" 2>&1 &
scripts/sanitize.sh short valgrind asan
wait $! || { cat "$miri"; exit 1; }
cat "$miri"

step "Fuzzing"
SEED=1 scripts/fuzz.sh 3

step "Endurance"
MINUTES=0.5 SEED=1 scripts/soak.sh

end_steps
printf '\nAll checks passed.\n'
