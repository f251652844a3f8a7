#!/usr/bin/env python3
"""Builds all tests and runs their programs, several at once: most of them wait for servers most of the time.

A program's output is printed whole when the program has ended, as `cargo test` prints it. Documentation tests come as one
more program, so do those of the server over Postgres where there is an image of it, and so does each command after `--also`.
Exits with 1 if any failed.

    scripts/tests.py [--lanes N] [--also COMMAND] [CARGO ARGUMENT ...]     # 3 lanes; --workspace --all-features unless given
"""

import argparse
import collections
import json
import os
import pathlib
import shlex
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
OVER_POSTGRES = "memory-server/server over Postgres"

# The longest first, by a run on two cores; the others follow as cargo names them. A program that is missing here only ends
# later than it could.
LONGEST = [
    "memory-postgres/conformance", "memory-elastic/conformance", "memory-testkit/simulation", "memory/servers",
    "memory-testkit/mutants", "memory-postgres/faults", "memory-cli/program", "memory-elastic/two_nodes",
    "memory-redis/faults", "memory-elastic/faults", "memory-sqlite/conformance", "memory-server/server",
    OVER_POSTGRES, "server_kits.sh", "memory-sqlite/behind", "memory-core/memory_core", "memory/memory",
    "memory-sqlite/memory_sqlite", "memory-models/conformance", "all-four/servers", "memory-redis/cluster", "documentation",
    "memory-redis/conformance", "memory-cli/servers", "memory-qdrant/faults", "memory-testkit/guarded",
    "memory-qdrant/conformance",
]


def built(arguments):
    """Builds the tests and returns their programs: (name, path, folder)."""
    command = ["cargo", "test", *arguments, "--no-run", "--message-format=json-render-diagnostics"]
    programs = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as build:
        for line in build.stdout:
            message = json.loads(line) if line.startswith("{") else {}
            if message.get("reason") == "compiler-artifact" and message["executable"] and message["profile"]["test"]:
                folder = pathlib.Path(message["manifest_path"]).parent
                target = message["target"]
                name = f"{folder.name}/{target['name']}"
                what = f"{target['kind'][0]} {target['src_path']}"
                programs.append((name, what, [message["executable"]], folder))
                if name == "memory-server/server" and os.environ.get("MEMORY_TEST_POSTGRES_IMAGE"):
                    over = [str(ROOT / "scripts/server_over_postgres.sh"), message["executable"]]
                    programs.append((OVER_POSTGRES, what, over, folder))
    if build.returncode:
        sys.exit(build.returncode)
    return programs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lanes", type=int, default=3)
    parser.add_argument("--also", action="append", default=[], metavar="COMMAND", help="one more program, named by its file")
    options, arguments = parser.parse_known_args()
    arguments = arguments or ["--workspace", "--all-features"]
    start = time.monotonic()
    programs = built(arguments)
    print(f"built {len(programs)} programs in {time.monotonic() - start:.0f} s", flush=True)
    documentation = ["cargo", "test", *arguments, "--doc", "--no-fail-fast"]
    programs.append(("documentation", "", documentation, None))
    for command in map(shlex.split, options.also):
        programs.append((pathlib.Path(command[0]).name, " ".join(command), command, None))
    order = {name: place for place, name in enumerate(LONGEST)}
    waiting = collections.deque(sorted(programs, key=lambda program: order.get(program[0], len(order))))
    lock, failed, took = threading.Lock(), [], {}

    def lane():
        while True:
            with lock:
                if not waiting:
                    return
                name, what, command, folder = waiting.popleft()
            begun = time.monotonic()
            # Not for cargo: a build script reads it, and cargo would build that crate again and all that needs it.
            environment = {**os.environ, **({"CARGO_MANIFEST_DIR": str(folder)} if folder else {})}
            with subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as run:
                said = run.stdout.read()
                _, status, usage = os.wait4(run.pid, 0)
                run.returncode = os.waitstatus_to_exitcode(status)
            with lock:
                took[name] = (time.monotonic() - begun, usage.ru_utime + usage.ru_stime)
                print(f"     Running {name} {what}", flush=True)
                sys.stdout.buffer.write(said)
                sys.stdout.buffer.flush()
                if run.returncode:
                    failed.append(name)
                    print(f"error: {name} failed with {run.returncode}", flush=True)

    lanes = [threading.Thread(target=lane) for _ in range(options.lanes)]
    for one in lanes:
        one.start()
    for one in lanes:
        one.join()
    print("\nthe longest programs: seconds, and seconds of processors (servers in containers are not counted)")
    for name, (seconds, computing) in sorted(took.items(), key=lambda entry: -entry[1][0])[:24]:
        print(f"{seconds:7.0f} {computing:7.0f}  {name}")
    computing = sum(computing for _, computing in took.values())
    print(f"all in {time.monotonic() - start:.0f} s; {computing:.0f} s of processors")
    for name in failed:
        print(f"error: {name} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
