#!/usr/bin/env bash
# Compares the memory with other libraries, side by side and alternately, and writes docs/benchmarks.md.
# usage: scripts/bench.sh [--quick] [--rows window,append,flat,filtered,words,hybrid]
# --quick: 1,000 messages, two runs each, no report; tells whether it works, not how fast.
# Needs python3 with venv, about 2 GB of disk and 8 GB of memory; a machine that does nothing else.
set -euo pipefail
cd "$(dirname "$0")/.."
quick="" rows=""
while [ "$#" -gt 0 ]; do
  case "$1" in
    --quick) quick=yes; shift ;;
    --rows) rows="$2"; shift 2 ;;
    *) echo "usage: scripts/bench.sh [--quick] [--rows ROW,...]" >&2; exit 2 ;;
  esac
done
folder="${BENCH_FOLDER:-${CARGO_TARGET_DIR:-target}/peers}"
sizes=(1000 10000 100000)
[ -z "$quick" ] || sizes=(1000)
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1

mkdir -p "$folder"
# Made again when the pins change, and the data when what makes it does.
if ! cmp -s benches/peers/requirements.txt "$folder/requirements.txt"; then
  python3 -m venv --clear "$folder/venv"
  "$folder/venv/bin/pip" install --quiet --disable-pip-version-check --requirement benches/peers/requirements.txt
  cp benches/peers/requirements.txt "$folder/requirements.txt"
fi
if ! cmp -s benches/peers/data.py "$folder/data.py"; then
  rm -rf "$folder"/*000
  cp benches/peers/data.py "$folder/data.py"
fi
for size in "${sizes[@]}"; do "$folder/venv/bin/python" benches/peers/data.py "$folder" "$size"; done
# Cargo says where the program is: the target folder may be set in several ways.
program=$(cargo build --release --package memory-peers --message-format json |
  "$folder/venv/bin/python" -c 'import json, sys
print([m["executable"] for m in map(json.loads, sys.stdin) if m.get("executable")][-1])')
arguments=("$program" "$folder")
[ -z "$quick" ] || arguments+=(--quick)
[ -n "$quick$rows" ] || arguments+=(--report docs/benchmarks.md)
[ -z "$rows" ] || arguments+=(--rows "$rows")
"$folder/venv/bin/python" benches/peers/compare.py "${arguments[@]}"
