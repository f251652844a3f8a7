#!/usr/bin/env bash
# The slow tier: what the tests do, with more rounds and on several nodes. Before an issue is called done.
#   scripts/services.sh --install run scripts/soak.sh [--release] [NAME...]
# All of the table below, or the lines whose names begin so; with --release far more of everything, in release: hours on two
# cores, once before a release. A line that fails does not stop the others. How each ended, what it took, and what its
# runners said last stands at the end. Servers are required.
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TERM_COLOR="${CARGO_TERM_COLOR:-never}" MEMORY_REQUIRE="${MEMORY_REQUIRE:-all}" MEMORY_TEST_LIMIT="${MEMORY_TEST_LIMIT:-7200}"

# What the two sizes of the tier differ in.
profile=() program=200 redis=100 postgres=15 qdrant=30 storm=20000 window=1000000
if [ "${1:-}" = --release ]; then
  shift
  profile=(--release) program=1000 redis=1000 postgres=1000 qdrant=100 storm=160000 window=10000000
fi
wanted=("$@")
results="" failed=0
said="$(mktemp)"
trap 'rm -f "$said"' EXIT

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
  "$@" 2>&1 | tee "$said" || { verdict=FAILED; failed=1; }
  results+="$(printf '%-24s %-7s %6ss' "$name" "$verdict" "$((SECONDS - started))")"$'\n'
  # The kit's last lines name the server; the standard runner's stand where there are none, but for empty runs.
  results+="$( { grep -E ' on .*: [0-9]+ passed, ' "$said" || grep -E '^test result: .* [1-9][0-9]* passed' "$said" || true; } | sed 's/^/    /')"$'\n'
}

# Everything is built once, as the tests build it: a crate alone would be built with other features of what it uses.
built="$(cargo test ${profile[@]+"${profile[@]}"} --workspace --all-features --no-run --message-format json |
  sed -nE 's|.*"manifest_path":"[^"]*/([^"/]+)/Cargo.toml".*"name":"([^"]+)".*"executable":"([^"]+)".*|\1 \2 \3|p')"

# Some tests of a crate.
tests() { # CRATE TARGET [ARGUMENT...]
  local program
  program="$(awk -v crate="$1" -v target="$2" '$1 == crate && $2 == target { print $3 }' <<< "$built")"
  (cd "$1" && "$program" "${@:3}")
}

# Kills the program at so many points of an import.
program_kills() { # POINTS
  MEMORY_TEST_ROUNDS="$1" tests memory-cli program --exact --nocapture \
    kill::every_acknowledged_message_survives_a_kill_and_the_same_import_completes
}

# Kills a process behind a journal so many times, and its server a twentieth as often.
journal_kills() { # KILLS
  MEMORY_TEST_ROUNDS="$1" tests memory servers s3_6_what_a_journal
}

# Damages a journal a thousand times in each way, and cuts its file and the end of its log at every byte.
journal_damage() {
  MEMORY_TEST_ROUNDS=1000 tests memory-sqlite memory_sqlite journal::damage journal::torn
}

# Fails each call of the operating system of a process that uses a journal, and kills it there.
journal_calls() {
  MEMORY_TEST_ROUNDS=1000000 tests memory-sqlite calls
}

# The server of a journal is away for ten minutes under load.
journal_outage() {
  MEMORY_TEST_ROUNDS=600 tests memory servers s3_6_a_journal_outlasts
}

# The server of a journal stands still ten times, for five seconds each.
journal_pauses() {
  MEMORY_TEST_ROUNDS=10 tests memory servers s3_6_appends_go_on
}

# A primary refuses one of a hundred messages that wait in a journal, so many of them.
journal_poison() { # MESSAGES
  MEMORY_TEST_ROUNDS="$1" tests memory-testkit write_behind one_bad_message
}

# The cancel storms of a crate.
storms() { # CRATE
  MEMORY_TEST_STORM="$storm" tests "$1" conformance dropped &&
  MEMORY_TEST_STORM="$storm" tests "$1" conformance given_up
}

# Tests of a crate that do something to a server so many times.
kills() { # CRATE ROUNDS FILTER
  MEMORY_TEST_ROUNDS="$2" tests "$1" faults "$3"
}

# All promises of a crate, isolation with so many cases.
conformance() { # CRATE CASES
  MEMORY_TEST_CASES="$2" MEMORY_TEST_STORM="$storm" tests "$1" conformance
}

# Isolation in a server of indexes, with so many cases; what else it promises has lines of its own.
isolation() { # CRATE CASES
  MEMORY_TEST_CASES="$2" tests "$1" conformance stay_with_their_owner
}

# The promises of the stores in this process, isolation with so many cases.
reference() { # CASES
  MEMORY_TEST_CASES="$1" tests memory-testkit reference
}

# Histories of a whole memory beside a model, so many over the stores of a crate. Each thousand has new stores and a seed of its own:
# what stores keep of owners that were forgotten makes every pass of upkeep over them longer.
histories() { # HISTORIES CRATE TARGET
  local seed what
  for seed in $(seq "$(($1 / 1000))"); do
    for what in histories_of contexts_of_branches; do
      MEMORY_TEST_SEED="$seed" MEMORY_TEST_HISTORIES=1000 tests "$2" "$3" "$what" || return 1
    done
  done
}

# What appends, newest reads and forks of a conversation of so many messages cost, beside those of a short one.
costs() { # MESSAGES CRATE TARGET
  MEMORY_TEST_LENGTH="$1" tests "$2" "$3" of_any_length
}

# What fits into a context, over so many histories.
window() { # HISTORIES
  MEMORY_CASES="$1" tests memory-core window_fit
}

# Summarisers of no use, each over so many conversations.
summaries() { # CONVERSATIONS
  MEMORY_TEST_ROUNDS="$1" tests memory-testkit engine g18_
}

# Owners whose keys could be one, so many pairs of pairs.
keys() { # PAIRS
  PROPTEST_CASES="$1" tests memory-core memory_core injective
}

# The locks of board, overlay and working tier, in so many schedules of each test.
schedules() { # SCHEDULES
  MEMORY_SCHEDULES="$1" tests memory-core memory_core s0_20
}

# Changes the code of windows, ranking, novelty and filters in every way that a list of changes knows, and asks whether a test of the
# crate fails. What it misses stands in mutants.out/missed.txt. A change for which the tests never end is noticed too: code 3.
mutants() {
  local code=0
  command -v cargo-mutants > /dev/null || cargo install --quiet --locked cargo-mutants
  cargo mutants --package memory-core --file 'memory-core/src/window/**' --file 'memory-core/src/rank/**' \
    --file memory-core/src/novelty/gate.rs --file memory-core/src/filter.rs || code="$?"
  [ "$code" -eq 0 ] || { [ "$code" -eq 3 ] && [ -f mutants.out/missed.txt ] && [ ! -s mutants.out/missed.txt ]; }
}

# What every context keeps to, over so many of them.
contexts() { # CONTEXTS
  MEMORY_CONTEXTS="$1" tests memory-testkit contexts
}

# Truth, indexes, cache and processes under one scheduler, so many plays.
simulation() { # PLAYS
  MEMORY_PLAYS="$1" tests memory-testkit simulation
}

# Calls to model servers that fail in every way at every byte.
models_storm() { # CALLS
  MEMORY_TEST_ROUNDS="$1" tests memory-models http --nocapture storm
}

# A real server of models, for the wire that most of them share.
models_llama() {
  local program
  program="$(awk '$1 == "memory-models" && $2 == "http" { print $3 }' <<< "$built")"
  (cd memory-models && ../scripts/llama.sh "$program" --ignored real)
}

# Two processes over each backend, killed and cut off, so many operations each.
sieges() { # OPERATIONS
  MEMORY_TEST_OPERATIONS="$1" tests memory servers siege
}

# A process that forgets an owner is killed midway, so many times.
erasure_kills() { # KILLS
  MEMORY_TEST_ROUNDS="$1" tests memory servers an_erasure_that_ends
}

# Generated calls of a server, so many: those of owners that name others, those of the graph beside its reference, results of tools.
server_calls() { # CALLS FILTER
  MEMORY_CALLS="$1" tests memory-server server "$2"
}

# The server in a browser, and with the clients and kits of others.
server_seen() { # SCRIPT [COMMAND BEFORE IT...]
  local program
  program="$(awk '$1 == "memory-cli" && $2 == "memory" && $3 !~ /\/deps\// { print $3; exit }' <<< "$built")"
  "${@:2}" "scripts/$1" "$program"
}

# Kills a server so many times under clients that try again.
server_kills() { # KILLS
  MEMORY_TEST_ROUNDS="$1" tests memory-cli program crash
}

soak "program-kills" program_kills "$program"
soak "redis-kills" kills memory-redis "$redis" kills_lose
soak "redis-cluster" tests memory-redis cluster
soak "postgres-kills" kills memory-postgres "$postgres" survives_kills
soak "qdrant-kills" kills memory-qdrant "$qdrant" after_kills
soak "elastic-two-nodes" tests memory-elastic two_nodes
soak "journal-kills" journal_kills "$program"
soak "journal-damage" journal_damage
soak "journal-calls" journal_calls
soak "journal-outage" journal_outage
soak "journal-pauses" journal_pauses
soak "journal-poison" journal_poison 10000
soak "sqlite-storms" storms memory-sqlite
soak "redis-storms" storms memory-redis
soak "postgres-storms" storms memory-postgres
soak "qdrant-storms" storms memory-qdrant
soak "elastic-storms" storms memory-elastic
soak "reference-histories" histories 10000 memory-testkit reference
soak "sqlite-histories" histories 10000 memory-sqlite conformance
soak "redis-histories" histories 10000 memory-redis conformance
soak "postgres-histories" histories 10000 memory-postgres conformance
soak "reference-costs" costs 100000 memory-testkit reference
soak "sqlite-costs" costs 100000 memory-sqlite conformance
soak "redis-costs" costs 100000 memory-redis conformance
soak "postgres-costs" costs 100000 memory-postgres conformance
soak "window" window "$window"
soak "contexts" contexts 100000
soak "schedules" schedules 100000
soak "summaries" summaries 1000
soak "models-storm" models_storm 10000
soak "models-llama" models_llama
soak "simulation" simulation 100000
soak "sieges" sieges 100000
soak "erasure-kills" erasure_kills 50
soak "server-isolation" server_calls 100000 no_call_shows_a_byte_of_another_owner
soak "server-graph" server_calls 500 sequences_of_calls_are_answered
soak "server-results" server_calls 10000 results_fit_into_their_tokens
soak "server-kills" server_kills 100
soak "server-page" server_seen server_page.sh
soak "server-kits" server_seen server_kits.sh
soak "server-kits-postgres" server_seen server_kits.sh scripts/server_over_postgres.sh
if [ "${#profile[@]}" -gt 0 ]; then
  soak "keys" keys 10000000
  soak "reference-conformance" reference 10000000
  soak "sqlite-conformance" conformance memory-sqlite 200000
  soak "redis-conformance" conformance memory-redis 200000
  soak "postgres-conformance" conformance memory-postgres 200000
  soak "elastic-isolation" isolation memory-elastic 200000
  soak "qdrant-isolation" isolation memory-qdrant 200000
  soak "mutants" mutants
fi

printf '\n== the slow tier, on %s cores, %s\n%s' "$(nproc)" "$(date -u +%F)" "$results"
exit "$failed"
