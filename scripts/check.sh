#!/bin/sh
# The checks that are long by nature, in short forms: memory under valgrind, AddressSanitizer and Miri, fuzzing, endurance.
# The last line is the result.
set -eu
cd "$(dirname "$0")/.."
. scripts/test/steps.sh

[ -n "${TB_SERVERS-}" ] || exec scripts/servers.sh scripts/check.sh

step "Build"
make --no-print-directory build
scripts/sanitize.sh build >/dev/null
scripts/fuzz.sh build >/dev/null

step "PHP: the release"
# make test runs all on a build that checks itself; here it is what the optimiser could change.
scripts/phpt.sh php-tests/01_class php-tests/02_storages php-tests/06_fpm php-tests/08_memory php-tests/09_statistics

step "Memory: valgrind, AddressSanitizer and Miri"
# Miri runs on one core.
at_once "scripts/sanitize.sh short valgrind asan" "scripts/sanitize.sh short miri"

step "Fuzzing"
SEED=1 scripts/fuzz.sh 3

step "Endurance"
MINUTES=0.5 SEED=1 scripts/soak.sh

end_steps
printf '\nAll checks passed.\n'
