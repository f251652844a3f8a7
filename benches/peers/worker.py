"""A peer's side of the comparison: holds the messages of a folder, and does one thing with them as often as it is told.

usage: worker.py ROW PEER FOLDER
Each line of stdin is a command, each line of stdout its answer as JSON: `check N` answers what N questions find,
`run` is timed.
The same protocol as ours (ours/src/main.rs).
"""

import os

# Before numpy and faiss are loaded.
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1", MEM0_TELEMETRY="False",
                  ANONYMIZED_TELEMETRY="False", TOKENIZERS_PARALLELISM="false", MEM0_DIR="/tmp/memory-peers-mem0")

import json
import sys
import time
from pathlib import Path

import data
import search
import window

LEAST = 0.3


def run(call):
    """Calls until 0.3 s have passed; returns calls, seconds, and seconds of the processor."""
    spent, started, calls = time.process_time(), time.perf_counter(), 0
    while time.perf_counter() - started < LEAST:
        call(calls)
        calls += 1
    return {"calls": calls, "wall": time.perf_counter() - started, "cpu": time.process_time() - spent}


def main(row, peer, folder):
    # Answers go to the stdout of the beginning; whatever a library prints goes to stderr.
    answers, sys.stdout = sys.stdout, sys.stderr
    makers = {"window": window.WINDOW, "append": window.APPEND, "flat": search.FLAT, "filtered": search.FILTERED,
              "words": search.WORDS, "hybrid": search.HYBRID}
    call = makers[row][peer](*data.read(Path(folder)))
    print(json.dumps({"ready": True}), file=answers, flush=True)
    for line in sys.stdin:
        if line.startswith("check "):
            answer = {"answers": [[int(number) for number in call(each)] for each in range(int(line.split()[1]))]}
        else:
            answer = run(call)
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
