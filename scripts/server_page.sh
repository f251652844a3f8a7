#!/usr/bin/env bash
# Looks at the page of the server in a browser, by keys alone: each view on the sample conversation, in light and dark; stored markup,
# scripts and marks of direction; 100,000 messages; a journal; an owner who forgets everything. Needs Python, Chromium (Debian:
# `apt-get install chromium`) and the network for one pinned package.
#   scripts/server_page.sh PROGRAM [FOLDER]    PROGRAM is a built `memory`; FOLDER takes a picture of each view
#   scripts/server_page.sh --install           installs Chromium, as root on Debian
set -euo pipefail
if [ "${1:-}" = --install ]; then
  command -v chromium > /dev/null || { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends chromium; } > /dev/null
  exit
fi
program="$(realpath "${1:?usage: scripts/server_page.sh PROGRAM [FOLDER]}")"
pictures="${2:+$(mkdir -p "$2" && realpath "$2")}"
cd "$(dirname "$0")/.."
browser="${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)}"
[ -n "$browser" ] || { echo "Chromium is missing: apt-get install chromium, or name it in CHROMIUM"; exit 1; }
work="$(mktemp -d)"
servers=()
trap '[ "${#servers[@]}" = 0 ] || kill "${servers[@]}" 2> /dev/null || true; rm -rf "$work"' EXIT

python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check --only-binary=:all: \
  -c scripts/server_wheels.txt playwright
export HOME="$work" XDG_DATA_HOME="$work" MEMORY_TOKENS="$work/tokens.json"

# Serves a database for an owner and says where.
serve() { # DATABASE TENANT SUBJECT
  "$program" --db "$work/$1" --tenant "$2" --subject "$3" serve --listen 127.0.0.1:0 > "$work/$1.out" 2> "$work/$1.log" &
  servers+=("$!")
  for _ in $(seq 300); do
    if grep -q '#token=' "$work/$1.out"; then link="$(grep '#token=' "$work/$1.out")"; return; fi
    sleep 0.1
  done
  cat "$work/$1.log"
  exit 1
}

"$program" --db "$work/sample.sqlite" demo > /dev/null
# A conversation that outgrew its budget: its beginning stands behind a summary.
for number in $(seq 40); do echo "Note $number of the garden: the $number. bed needs water, and the tomatoes in it need a stick each."; done |
  "$program" --db "$work/sample.sqlite" --tenant demo --subject ines chat --session garden --budget 600 > /dev/null 2>&1
serve sample.sqlite demo ines
sample="$link"
# Long enough that most of them left the window, behind summaries.
python3 -c '
import json
for number in range(1, 100_001):
    role = "user" if number % 2 else "assistant"
    print(json.dumps({"role": role, "content": f"Message {number} is about plan {number % 997}, and says so at some length."}))
' > "$work/large.jsonl"
MEMORY_EMBEDDER=none "$program" --db "$work/large.sqlite" --tenant acme --subject ada import --session large "$work/large.jsonl" > /dev/null 2>&1
export MEMORY_EMBEDDER=none
serve large.sqlite acme ada
large="$link"
# More sessions than one page of their list holds. Their owner has a journal, in which messages wait, and forgets everything.
python3 -c '
import json
for number in range(1, 61):
    print(json.dumps({"session": f"talk {number}", "role": "user", "content": f"Talk {number} is about plan {number}."}))
' > "$work/own.jsonl"
"$program" --db "$work/own.sqlite" --tenant acme --subject carol import "$work/own.jsonl" > /dev/null 2>&1
SESSION_BUFFER_PATH="$work/journal.sqlite" SESSION_FLUSH_SECONDS=3600 serve own.sqlite acme carol

"$work/venv/bin/python" -B scripts/server_page/drive.py "$browser" "$sample" "$large" "$link" "$pictures"
kill -TERM "${servers[@]}"
for server in "${servers[@]}"; do wait "$server"; done
servers=()
printf 'the page was tried in %s\n' "$("$browser" --version 2> /dev/null)"
