#!/usr/bin/env bash
# The slow tier: what the tests do, with far more rounds and in release. Hours on two cores; once before a release.
#   scripts/services.sh --install run scripts/soak.sh [NAME...]    all of the table below, or the lines whose names begin so
# A line that fails does not stop the others; what each took and how it ended stands at the end. Servers are required.
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TERM_COLOR="${CARGO_TERM_COLOR:-never}" MEMORY_REQUIRE="${MEMORY_REQUIRE:-all}" MEMORY_TEST_LIMIT="${MEMORY_TEST_LIMIT:-7200}"
wanted=("$@")
results="" failed=0

asked() {
  [ "${#wanted[@]}" -gt 0 ] || return 0
  local beginning
  for beginning in "${wanted[@]}"; do [[ "$1" != "$beginning"* ]] || return 0; done
  return 1
}

soak() { # NAME COMMAND...
  local name="$1" started="$SECONDS" verdict=passed
  shift
  asked "$name" || return 0
  printf '\n== %s: %s\n' "$name" "$*"
  "$@" || { verdict=FAILED; failed=1; }
  results+="$(printf '%-24s %-7s %6ss' "$name" "$verdict" "$((SECONDS - started))")"$'\n'
}

# Conformance of a crate, in release: isolation with CASES cases, cancel storms of 160,000 calls.
conformance() { # CRATE CASES
  MEMORY_TEST_CASES="$2" MEMORY_TEST_STORM=160000 cargo test --release --package "$1" --all-features --test conformance
}

# A line per test; those of an adapter that kill servers take MEMORY_TEST_ROUNDS.
soak "program-kills" scripts/kill.sh 1000
soak "reference-conformance" env MEMORY_TEST_CASES=10000000 cargo test --release --package memory-testkit --test reference
soak "sqlite-conformance" conformance memory-sqlite 200000
soak "window" env MEMORY_CASES=10000000 cargo test --release --package memory-core --test window_fit

printf '\n== the slow tier, on %s cores, %s\n%s' "$(nproc)" "$(date -u +%F)" "$results"
exit "$failed"
