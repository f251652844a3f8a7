#!/usr/bin/env python3
"""Prints the licences of everything in the program, as `cargo metadata` resolves it: what it is, and every text once.

    scripts/licences.py TARGET [FEATURE,...]

Fails for a crate that names no licence. A crate that brings no text is listed with what it names.
"""

import collections
import json
import pathlib
import subprocess
import sys

NAMES = ("licen", "copying", "notice", "unlicense")


def crates(target, features):
    """The crates that are in the program, without what only builds or tests it."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", target,
               "--manifest-path", "memory-cli/Cargo.toml"]
    command += ["--no-default-features", "--features", features] if features else []
    found = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    packages = {package["id"]: package for package in found["packages"]}
    nodes = {node["id"]: node for node in found["resolve"]["nodes"]}
    waiting, seen = [found["resolve"]["root"]], set()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        uses = (dep for dep in nodes[name]["deps"] if any(kind["kind"] is None for kind in dep["dep_kinds"]))
        waiting += [dep["pkg"] for dep in uses]
    return sorted((packages[name] for name in seen), key=lambda package: (package["name"], package["version"]))


def texts(package):
    """The texts that a crate brings: its licences and notices."""
    folder = pathlib.Path(package["manifest_path"]).parent
    files = [path for path in folder.iterdir() if path.is_file() and any(name in path.name.lower() for name in NAMES)]
    return [path.read_text(encoding="utf-8", errors="replace").strip() for path in sorted(files)]


def main():
    target, features = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
    holders = collections.OrderedDict()
    print(f"# What the program `memory` for {target} is made of\n")
    for package in crates(target, features):
        named = package["license"] or package["license_file"]
        if not named:
            sys.exit(f"{package['name']} names no licence")
        own = texts(package)
        print(f"{package['name']} {package['version']}: {named}{'' if own or package['source'] is None else ' (brings no text)'}")
        for text in own:
            holders.setdefault(text, []).append(package["name"])
    print("musl 1.2: MIT\nSQLite: public domain\nthe standard library of Rust: MIT OR Apache-2.0")
    root = pathlib.Path(__file__).parent.parent
    for path in [root / "LICENSE-MIT", root / "LICENSE-APACHE", root / "memory-models/src/table/NOTICE.md"]:
        holders.setdefault(path.read_text(encoding="utf-8").strip(), []).append(f"memory, {path.name}")
    for text, names in holders.items():
        print(f"\n{'-' * 80}\n{', '.join(dict.fromkeys(names))}\n\n{text}")


if __name__ == "__main__":
    main()
