#!/bin/sh
# Installs what writes the dependencies of a release down: in the library (cargo-auditable), and as an SBOM (cargo-cyclonedx).
set -eu

command -v cargo-auditable >/dev/null || cargo install --locked --quiet cargo-auditable --version 0.7.7
command -v cargo-cyclonedx >/dev/null || cargo install --locked --quiet cargo-cyclonedx --version 0.5.9
