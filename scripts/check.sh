#!/bin/sh
# The checks that are long by nature, in short forms: memory under valgrind, AddressSanitizer and Miri, packages on Debian testing,
# fuzzing, endurance.
# The last line is the result.
set -eu
cd "$(dirname "$0")/.."
. scripts/test/steps.sh

[ -n "${TB_SERVERS-}" ] || exec scripts/servers.sh scripts/check.sh

builds() { make --no-print-directory build && scripts/sanitize.sh build >/dev/null && scripts/fuzz.sh build >/dev/null; }
step "Build" builds
[ ! -s "$steps/failed" ] || exit 1
# make test runs all on a build that checks itself; here it is what the optimiser could change.
step "PHP: the release" scripts/phpt.sh php-tests/01_class php-tests/02_storages php-tests/06_fpm php-tests/08_memory php-tests/09_statistics
step "Memory: valgrind, AddressSanitizer and Miri" scripts/sanitize.sh short
# make test runs them with the frameworks of Debian 12. The stand-in has no framework: make matrix runs it on other PHPs.
if [ -d "${XDG_CACHE_HOME:-$HOME/.cache}/token_bucket/debian-forky" ]; then
    step "Packages: the frameworks of Debian testing" env FORKY=only scripts/test-integrations.sh frameworks
else
    echo "Not run: packages on Debian testing, which make test-integrations FORKY=1 installs here" >>"$steps/output"
fi
step "Fuzzing" env SEED=1 scripts/fuzz.sh 3
step "Endurance" env MINUTES=0.5 SEED=1 scripts/soak.sh
end_steps "All checks passed."
