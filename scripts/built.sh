#!/usr/bin/env bash
# Builds what the tests build, once and with the same features, and lists it: crate, target and path of each program.
#   scripts/built.sh [--release]
set -euo pipefail
cd "$(dirname "$0")/.."
cargo test "$@" --workspace --all-features --no-run --message-format json |
  sed -nE 's|.*"manifest_path":"[^"]*/([^"/]+)/Cargo.toml".*"name":"([^"]+)".*"executable":"([^"]+)".*|\1 \2 \3|p'
