"""Runs our side and each peer alternately, checks what they find, and writes the table.

usage: compare.py OURS FOLDER [--quick] [--report FILE] [--rows ROW,...]
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import date
from importlib import metadata
from pathlib import Path

import numpy

import data

ROUNDS = 5
# A peer whose single call takes so long is run twice, and the row says so.
SLOW = 1.5
HERE = Path(__file__).parent
PEERS = ["llama-index-core", "langchain-core", "langgraph", "mem0ai", "faiss-cpu", "bm25s", "numpy", "tiktoken"]

# What is not run, and why.
LEFT_OUT = {
    ("window", "llama-index ChatMemoryBuffer"): (2_000, "counts the rest again for every message it drops: minutes a call"),
    ("window", "langchain trim_messages, exact"): (10_000, "about 10 s a call"),
    ("hybrid", "mem0, Qdrant local"): (10_000, "filling it takes minutes"),
}


class Side:
    """A process that answers commands, ours or a peer's."""

    def __init__(self, command):
        self.process = subprocess.Popen([str(part) for part in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, cwd=HERE)
        self.read()

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.process.args} ended")
        return json.loads(line)

    def ask(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return self.read()

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def alternate(sides, rounds):
    """Seconds a call, by the clock and by the processor, of runs taken in turn: in process, SQLite, peer, in process, …"""
    runs = {name: [] for name in sides}
    for done in range(1, rounds + 1):
        for name, side in sides.items():
            answer = side.ask("run")
            runs[name].append((answer["wall"] / answer["calls"], answer["cpu"] / answer["calls"]))
        if done == 2 and runs["peer_takes"][0][0] > SLOW:
            break
    return {name: tuple(statistics.median(column) for column in zip(*taken)) for name, taken in runs.items()}, done


def exact(folder, owners):
    """The ten nearest of each question, by plain multiplication in 64 bits."""
    messages, vectors, _questions, sought = data.read(folder)
    scores = sought[:16].astype("f8") @ vectors.T.astype("f8")
    if owners > 1:
        own = numpy.array([line["owner"] for line in messages])
        for number in range(len(scores)):
            scores[number, own != number % owners] = -2
    return [list(map(int, numpy.argsort(-row, kind="stable")[:10])) for row in scores]


def overlap(found, promised):
    shares = [len(set(a) & set(b)) / max(1, len(b)) for a, b in zip(found, promised)]
    return sum(shares) / max(1, len(shares))


def fault(row, name, count, answers, promised):
    """What is wrong with the answers of a side, or none."""
    if row == "append":
        return None if answers[0][0] > count else f"{answers[0][0]} messages after an append to {count}"
    if row == "window":
        kept = answers[0]
        is_tail = kept == list(range(count - len(kept), count)) and kept
        return None if is_tail else f"the {len(kept)} messages kept are no tail"
    if any(len(answer) != 10 or len(set(answer)) != 10 for answer in answers):
        return "not ten different hits"
    # Words find others than the nearest vectors.
    if row in ("flat", "filtered") or (row == "hybrid" and not name.startswith("ours")):
        if overlap(answers, promised) < 0.99:
            return f"recall@10 is {overlap(answers, promised):.3f}"
    return None


def note(row, answers, promised):
    """What is told beside the times."""
    if row == "window":
        return f"{len(answers[0])} kept"
    if row in ("append", "words"):
        return ""
    return f"{overlap(answers, promised):.3f}"


def compare(options, row, count, table):
    import search
    import window
    peers = {"window": window.WINDOW, "append": window.APPEND, "flat": search.FLAT, "filtered": search.FILTERED,
             "words": search.WORDS, "hybrid": search.HYBRID}[row]
    folder = Path(options.folder).resolve() / str(count)
    # The answers of how many questions are compared: where a peer takes seconds a call, of four.
    check_some = f"check {1 if row in ('window', 'append') else 16 if count <= 10_000 else 4}"
    promised = exact(folder, {"filtered": 10}.get(row, 1)) if row in ("flat", "filtered", "hybrid") else []
    started = {}
    for store in ("memory", "sqlite"):
        started[store] = Side([Path(options.ours).resolve(), row, store, folder])
    checked = {store: side.ask(check_some)["answers"] for store, side in started.items()}
    for store, answers in checked.items():
        check(fault(row, f"ours, {store}", count, answers, promised), row, f"ours, {store}", count)
    if row in ("words", "hybrid"):
        # Of vectors as long as these an SQLite file holds 8 bits a number, so hits that are almost as near may change places.
        first = 10 if row == "words" else 1
        is_same = all(one[:first] == other[:first] for one, other in zip(checked["memory"], checked["sqlite"]))
        is_same = is_same and overlap(checked["memory"], checked["sqlite"]) >= 0.99
        check(None if is_same else "the stores differ", row, "ours", count)
    for name in peers:
        most, why = LEFT_OUT.get((row, name), (None, None))
        if most is not None and count > most:
            table.append({"row": row, "count": count, "peer": name, "left_out": why})
            continue
        peer = Side([sys.executable, HERE / "worker.py", row, name, folder])
        answers = peer.ask(check_some)["answers"]
        wrong = fault(row, name, count, answers, promised)
        line = {"row": row, "count": count, "peer": name, "peer_note": note(row, answers, promised), "wrong": wrong}
        if row == "words":
            line["peer_note"] = f"{overlap(answers, checked['memory']):.2f}"
        medians, line["rounds"] = alternate({**started, "peer_takes": peer}, 2 if options.quick else ROUNDS)
        line.update(medians, note=note(row, checked["memory"], promised))
        peer.close()
        table.append(line)
        print(json.dumps(line), flush=True)
    for side in started.values():
        side.close()


def check(wrong, *where):
    if wrong:
        raise SystemExit(f"{' '.join(map(str, where))}: {wrong}")


def shown(seconds):
    """A time with three digits."""
    for unit, size in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size or unit == "µs":
            return f"{seconds / size:.3g} {unit}"


def times(ratio):
    return f"{ratio:.2g}×" if ratio < 10 else f"{ratio:,.0f}×"


TITLES = {
    "window": "Window: the newest messages that fit into 3,000 tokens of a conversation of N",
    "append": "Append: one message more to a conversation of N",
    "flat": "Flat scan: the ten nearest of N vectors with 384 numbers. Ours reads 8 bits of each number first and is exact",
    "filtered": "Filtered scan: the ten nearest of one owner of ten, N vectors together",
    "words": "Search by words: the ten best of N messages; ours reads its 32 best messages, ranks these again, and brings the ten",
    "hybrid": "Search: the ten best of N messages. Ours by words and meaning with the messages themselves; peers by one of them",
}
NOTES = {"window": "messages kept", "append": "", "flat": "recall@10", "filtered": "recall@10", "words": "of the ten in common", "hybrid": "share of the ten nearest vectors"}


def report(table, options, took):
    lines = ["# Benchmarks", "",
             "Written by `scripts/bench.sh`; do not edit. Ours and a peer run in turn, at least five runs of each (where another",
             "number stands, the peer takes more than 1.5 s a call), and ratios are of medians: wall time, then processor time.",
             "Above 1 ours is faster. Ours stands twice: with its stores in the process, and with an SQLite file that is",
             "synced at every append. One thread. Embedders look vectors up, so only the stores are measured.", "",
             *about(options, took)]
    for row, title in TITLES.items():
        of_row = [line for line in table if line["row"] == row]
        if of_row:
            lines += ["", f"## {title}", "", *section(of_row, NOTES[row])]
    return "\n".join(lines) + "\n"


def section(of_row, what):
    extra = f" | {what}" + (", ours / peer" if of_row[0]["row"] != "words" else "") if what else ""
    lines = [f"| N | peer | peer, a call | ours in process | ratio | ours in SQLite | ratio | runs{extra} |",
             "|--:|---|--:|--:|--:|--:|--:|--:" + ("|---|" if what else "|")]
    for line in of_row:
        if "left_out" in line:
            lines.append(f"| {line['count']:,} | {line['peer']} | not run: {line['left_out']} | | | | |" + (" |" if what else ""))
            continue
        cells = [f"{line['count']:,}", line["peer"] + (f" (**{line['wrong']}**)" if line["wrong"] else ""),
                 shown(line["peer_takes"][0])]
        for store in ("memory", "sqlite"):
            ours, peer = line[store], line["peer_takes"]
            by_processor = times(peer[1] / ours[1]) if ours[1] > 0 else "?"
            cells += [shown(ours[0]), f"{times(peer[0] / ours[0])}, {by_processor}"]
        cells.append(str(line["rounds"]))
        if what:
            cells.append(" / ".join(filter(None, [line["note"], line["peer_note"]])))
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def syncs(folder):
    """How often a second the disk makes 4 KiB durable."""
    with tempfile.NamedTemporaryFile(dir=folder) as file:
        count, started = 0, time.perf_counter()
        while time.perf_counter() - started < 1:
            os.write(file.fileno(), bytes(4096))
            os.fdatasync(file.fileno())
            count += 1
        return count / (time.perf_counter() - started)


def about(options, took):
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        names = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    rust = subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=HERE).stdout.strip()
    load = Path("/proc/loadavg").read_text(encoding="utf-8").split()[0]
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in PEERS)
    command = "scripts/bench.sh" + (" --quick" if options.quick else "")
    profile = "release" if "release" in Path(options.ours).parts else "debug"
    return [f"- machine: {names[0] if names else platform.machine()}, {len(names)} virtual cores, load {options.load} before, {load} after",
            f"- disk: {syncs(options.folder):,.0f} fdatasync a second of 4 KiB appended, which bounds single appends to SQLite",
            f"- date: {date.today()}; command: `{command}`, {took / 60:.0f} minutes",
            f"- ours: commit {commit}, rustc {rust}, {profile} profile",
            f"- peers: Python {platform.python_version()}, {versions}"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ours")
    parser.add_argument("folder")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--report")
    parser.add_argument("--rows", default=",".join(TITLES))
    options = parser.parse_args()
    options.load = Path("/proc/loadavg").read_text(encoding="utf-8").split()[0]
    table, started = [], time.monotonic()
    for row in options.rows.split(","):
        for count in [1_000] if options.quick else [1_000, 10_000, 100_000]:
            print(f"== {row}, {count} ({time.monotonic() - started:.0f}s)", file=sys.stderr, flush=True)
            compare(options, row, count, table)
    text = report(table, options, time.monotonic() - started)
    if options.report:
        Path(options.report).write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
