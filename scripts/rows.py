#!/usr/bin/env python3
"""Lists for each row of docs/rows.md the tests that bear its id, and how they ended on each backend.

LOG is the output of `scripts/check.sh tests`. Without it, the suites that need no server are run: reference and sqlite; what is
shown by tests elsewhere is then told as such. Exits with 1 if a row that is called done is not shown: no test that bears its id
has passed, or one has failed, or was ignored wherever it was to run. Of a row that says `every backend`, a test has to have passed
on each backend whose suite was run, and of a row of several parts one for each: `s4_17g_…` shows part g of S4-17. A row of
documentation needs no test.

    scripts/rows.py [--brief] [LOG]     # --brief: only how many rows are shown, and which are not
"""

import argparse
import collections
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SUITES = ["reference", "sqlite", "postgres", "redis", "qdrant", "elastic"]
OFFLINE = [["-p", "memory-testkit", "--test", "reference"], ["-p", "memory-sqlite", "--test", "conformance"]]

# Rows of several parts, with the letters of these.
PARTS = {"S2-13": "abcdef", "S2-14": "abcdefg", "S4-17": "abcdefgh"}

ROW = re.compile(r"^\| ((?:S\d|O)-?\d+) \| .* \| (done|part|open) \| (.*) \|$", re.M)
TEST = re.compile(r"^test (\S+).*? \.\.\. (ok|FAILED|ignored)", re.M)
ID = r"(?:s\d_|o)\d+[a-h]?"
IDS = re.compile(f"(?:{ID}_)+")


def ids(name):
    """Returns the rows whose ids a test's name begins with, and the part of each: `s3_3_s4_17g_…` shows S3-3 and part g of S4-17."""
    head = IDS.match(name)
    found = re.findall(ID, head[0]) if head else []
    return [(one.rstrip("abcdefgh").upper().replace("_", "-"), one[-1] if one[-1].isalpha() else "") for one in found]


def results(log):
    """Returns {row: {test: {place: result}}}, where a place is a suite or `unit`."""
    rows = collections.defaultdict(lambda: collections.defaultdict(dict))
    for path, result in TEST.findall(log):
        first, name = path.split("::")[0], path.split("::")[-1]
        place = first if first in SUITES else "unit"
        for row, _ in ids(name):
            before = rows[row][name].get(place)
            # Of several tests of one name, such as one for each index, the worst counts.
            rows[row][name][place] = max(before or "", result, key=["", "ok", "ignored", "FAILED"].index)
    return rows


def played(suite):
    """Runs a suite and returns what it printed."""
    run = ["cargo", "test", "--all-features", "--no-fail-fast", *suite]
    output = subprocess.run(run, cwd=ROOT, stdout=subprocess.PIPE, text=True).stdout
    if "test result:" not in output:
        sys.exit(f"did not run: {' '.join(run)}")
    return output


def written():
    """Returns the rows that some test in the sources bears the id of."""
    text = "\n".join(file.read_text() for crate in [*ROOT.glob("memory*"), ROOT / "examples"] for file in crate.rglob("*.rs"))
    return {row for name in re.findall(r"\bfn (\w+)", text) for row, _ in ids(name)}


def lacking(row, where, tests, ran):
    """Returns on which backends, and of which parts, no test has shown a row that is to be shown there."""
    passed = [(name, place) for name, places in tests.items() for place, end in places.items() if end == "ok"]
    backends = ran if "every backend" in where else []
    lacks = [backend for backend in backends if all(place != backend for _, place in passed)]
    shown = {part for name, _ in passed for one, part in ids(name) if one == row}
    return lacks + [f"part {part}" for part in PARTS.get(row, "") if part not in shown]


def verdict(state, where, tests, elsewhere, lacks):
    """Returns what a run says of a row, and whether that will do."""
    if where.startswith("documentation row"):
        return "documentation", True
    ends = [set(places.values()) for places in tests.values()]
    if any("FAILED" in end for end in ends):
        return "FAILED", False
    if any("ok" not in end for end in ends):
        return "ignored", state != "done"
    if ends and lacks and not elsewhere:
        return "shown, but not " + ", ".join(lacks), state != "done"
    if ends:
        return "shown", True
    return ("elsewhere", True) if elsewhere else ("not shown", state != "done")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--brief", action="store_true")
    parser.add_argument("log", nargs="?")
    options = parser.parse_args()
    if options.log:
        log, elsewhere = pathlib.Path(options.log).read_text(errors="replace"), set()
    else:
        log, elsewhere = "\n".join(played(suite) for suite in OFFLINE), written()
    tests = results(log)
    ends = [places for of_row in tests.values() for places in of_row.values()]
    ran = [suite for suite in SUITES if any(places.get(suite) == "ok" for places in ends)]
    counts, faults = collections.Counter(), []
    for row, state, where in ROW.findall((ROOT / "docs/rows.md").read_text()):
        lacks = lacking(row, where, tests[row], ran)
        said, will_do = verdict(state, where, tests[row], row in elsewhere, lacks)
        counts[state, said] += 1
        line = f"{row:6} {state}  {said}"
        if not will_do:
            faults.append(line)
        if not options.brief:
            print(line)
            for name, places in sorted(tests[row].items()):
                print(f"         {name}: " + ", ".join(f"{place} {end}" for place, end in places.items()))
    for state in ["done", "part", "open"]:
        told = [f"{count} {said}" for (of, said), count in sorted(counts.items()) if of == state]
        print(f"{state}: " + ", ".join(told))
    for line in faults:
        print(f"error: {line}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
