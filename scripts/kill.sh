#!/usr/bin/env bash
# Kills the program at random points of an import and of its indexing, and checks that nothing acknowledged is lost.
# usage: scripts/kill.sh [POINTS], 200 if none are given
set -euo pipefail
cd "$(dirname "$0")/.."
MEMORY_KILLS="${1:-200}" cargo test --package memory-cli --test program -- --exact --nocapture \
  kill::every_acknowledged_message_survives_a_kill_and_the_same_import_completes
