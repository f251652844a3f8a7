#!/usr/bin/env bash
# Every check of the project, in the order of what fails soonest. Uses what is on the machine and installs nothing;
# .ci/run installs what is missing first. Tests that need a server which is not there are shown as ignored:
# scripts/services.sh run scripts/check.sh brings the servers.
#   scripts/check.sh          everything
#   scripts/check.sh code     what needs no server: format, lints, documentation
#   scripts/check.sh tests    the tests; arguments that follow go to scripts/tests.py
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TERM_COLOR="${CARGO_TERM_COLOR:-never}"

step() { printf '\n== %s (%ss)\n' "$1" "$SECONDS"; }

code() {
  step "format"
  cargo fmt --all --check

  step "file length: at most 400 lines"
  long=$(git ls-files -co --exclude-standard '*.rs' | xargs wc -l | awk '$2 != "total" && $1 > 400 { print $2 ": " $1 }')
  if [ -n "$long" ]; then echo "$long"; exit 1; fi

  step "no file is called mod.rs"
  named=$(git ls-files -co --exclude-standard '*mod.rs' | grep -E '(^|/)mod\.rs$' | xargs -r ls -d 2> /dev/null || true)
  if [ -n "$named" ]; then echo "$named"; exit 1; fi

  step "no two files import each other in a loop"
  python3 scripts/circles.py

  step "no public item of memory-core that only tests use"
  python3 scripts/unused.py

  step "every entry of the changelog has a kind"
  scripts/changelog.sh > /dev/null

  step "length of the examples: under 80 lines, to be read at once"
  long=$(wc -l examples/*/src/main.rs | awk '$2 != "total" && $1 >= 80 { print $2 ": " $1 }')
  if [ -n "$long" ]; then echo "$long"; exit 1; fi

  step "clippy"
  cargo clippy --workspace --all-targets --all-features -- -D warnings

  step "tests compile with less than all features"
  # The other crates are named for the features that they ask of third parties: with memory alone, a hundred were checked once more.
  cargo check --quiet --tests -p memory -p memory-core -p memory-elastic -p memory-models -p memory-postgres -p memory-server \
    --no-default-features --features memory/redis,memory/sqlite,memory-core/default,memory-models/local,memory-postgres/tls

  step "bans, licences, sources"
  if command -v cargo-deny > /dev/null; then
    cargo deny --log-level error check bans licenses sources
  elif [ "${CI:-}" = true ]; then
    echo "cargo-deny is not installed"; exit 1
  else
    echo "skipped: cargo-deny is not installed (.ci/run installs it)"
  fi

  step "documentation"
  # Of every crate but the program.
  mapfile -t crates < <(ls -d memory*/ | grep -v memory-cli | tr -d / | tr - _)
  # Built as the tests are, so that nothing is built for it alone.
  cargo build --quiet --workspace --all-features --example doc_links
  # A crate that is documented before its dependency has a folder is given no links into it: which is first, chance decides.
  (mkdir -p "${CARGO_TARGET_DIR:-target}/doc" && cd "${CARGO_TARGET_DIR:-target}/doc" && mkdir -p "${crates[@]}")
  # With all features, then the default ones. `--examples` and `local` give third parties the features that clippy checked.
  document() {
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --quiet --lib --examples "$@"
    "${CARGO_TARGET_DIR:-target}/debug/examples/doc_links" "${CARGO_TARGET_DIR:-target}/doc" "${crates[@]}"
  }
  document --exclude memory-cli --bins --all-features
  document --features memory-models/local
}

tests() {

  step "servers of the tests"
  for name in REDIS POSTGRES QDRANT ELASTIC; do
    url="MEMORY_TEST_${name}_URL" image="MEMORY_TEST_${name}_IMAGE"
    # A URL may hold a password.
    if [ -n "${!url:-}" ]; then echo "$name: url"
    elif [ -n "${!image:-}" ]; then echo "$name: container ${!image}"
    else echo "$name: container of the official image, if there is an engine that has it or can fetch it"; fi
  done
  echo "required: ${MEMORY_REQUIRE:-none, what is missing is ignored}"

  step "tests and doc tests, layer rule among them"
  log=$(mktemp)
  trap 'rm -f "$log" "$log.tiers"' EXIT
  local code=0
  scripts/tests.py "$@" 2>&1 | tee "$log" || code=$?

  step "ceilings of the calls of three tiers, as tests are built, at a fifth of the size"
  # The full size, optimised: cargo bench -p memory-sqlite --bench tiers. On a busy machine the calls of a run take twice their time: of
  # three runs, one below all ceilings is enough, and the last one counts.
  for _ in 1 2 3; do
    cargo bench --quiet --workspace --all-features --profile dev --bench tiers -- 200 1000 2000 2>&1 | tee "$log.tiers" && break
  done || code=1
  cat "$log.tiers" >> "$log"

  # At the end, where it is seen: what ran against which server, and what failed, with its reason.
  step "summary"
  grep -E '^[a-z]+ on .*: [0-9]+ passed' "$log" || true
  awk '/^test result:/ { passed += $4; failed += $6; ignored += $8 }
    END { print "in all: " passed " passed, " failed " failed, " ignored " ignored" }' "$log"
  awk '/^failures:$/ { shown = 1 } /^test result:/ { shown = 0 } shown || /^error/' "$log"

  step "rows of docs/rows.md that these tests show"
  # Where servers may be missing, so may what only they show.
  scripts/rows.py --brief "$log" || [ -z "${MEMORY_REQUIRE:-}" ] || code=1

  [ "$code" = 0 ] || exit "$code"
}

case "${1:-all}" in
  code) code ;;
  tests) shift; tests "$@" ;;
  all) code; tests ;;
  *) echo "usage: scripts/check.sh [code|tests]"; exit 2 ;;
esac
step "done"
