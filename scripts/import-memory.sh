#!/usr/bin/env bash
# Imports a generated file of chat JSON and checks the memory that this takes: large files are streamed.
# usage: scripts/import-memory.sh [MIB] [MOST_MIB], 1024 MiB of input in 200 MiB of memory if none are given
# Needs python3 and about three times the size of the input on the disk. SHAPE=array writes one JSON array.
set -euo pipefail
cd "$(dirname "$0")/.."
mib="${1:-1024}" most="${2:-200}"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

SHAPE="${SHAPE:-lines}" python3 - "$mib" "$folder/input.json" <<'PYTHON'
import json, os, random, sys

random.seed(7)
words = [''.join(random.choices('abcdefghijklmnopqrstuvwxyz', k=random.randint(2, 10))) for _ in range(20_000)]
target, array = int(sys.argv[1]) << 20, os.environ['SHAPE'] == 'array'
size = count = 0
with open(sys.argv[2], 'w') as out:
    out.write('[' if array else '')
    while size < target:
        text = ' '.join(random.choices(words, k=random.randint(5, 400)))
        line = json.dumps({'session': f's{count // 200}', 'at': 1_700_000_000 + count,
                           'role': ('user', 'assistant')[count % 2], 'content': text})
        size += out.write((',\n' if array and count else '') + line + ('' if array else '\n'))
        count += 1
    out.write(']' if array else '')
print(f'{count} messages, {size >> 20} MiB', flush=True)
PYTHON

cargo build --release --quiet --package memory-cli
program="${CARGO_TARGET_DIR:-target}/release/memory"
python3 - "$most" "$program" --db "$folder/memory.sqlite" --tenant scale --subject one import "$folder/input.json" <<'PYTHON'
import resource, subprocess, sys

most, command = int(sys.argv[1]), sys.argv[2:]
subprocess.run(command, check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
print(f'{used} MiB of memory at the most, {most} allowed')
sys.exit(used > most)
PYTHON
