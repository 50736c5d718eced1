#!/bin/sh
# Installs the mago that mago.toml names, the analyser of PHP for make lint.
set -eu
cd "$(dirname "$0")/../.."

version=$(sed -n 's/^version = "\(.*\)"/\1/p' mago.toml)
# Unoptimised: it reads this project in ten seconds all the same, and its own profile takes very long to build.
CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
    cargo install --locked --quiet mago --version "$version"
