#!/usr/bin/env python3
"""Finds public items of memory-core that nothing but tests uses.

An item is used if its name stands in shipped code or in an example, compiled examples in the documentation among them,
beside its own definition: not in other comments, tests, benches, the kit, or a re-export. Names are compared, not resolved,
so an item whose name is common may be missed.

    scripts/unused.py
"""

import collections
import pathlib
import re
import sys

from circles import MODULE, NOISE, USE, closing

DEFINITION = re.compile(
    r"\bpub\s+(?:default\s+|async\s+|const\s+|unsafe\s+)*(?:fn|struct|enum|union|trait|type|const|static)\s+(\w+)"
)
VARIANTS = re.compile(r"\bpub\s+enum\s+\w+[^{;]*\{")
FIELD = re.compile(r"^\s*pub\s+(\w+)\s*:", re.M)
VARIANT = re.compile(r"^    (\w+)\s*(?:[,({=]|$)", re.M)
ATTRIBUTE = re.compile(r"#!?\[[^\]]*\]")
# A block of a documentation comment, and a block in it that is compiled.
COMMENT = re.compile(r"(?:^[ \t]*//[/!][^\n]*\n)+", re.M)
EXAMPLE = re.compile(r"^```(?:rust|no_run|should_panic)?\n(.*?)^```", re.M | re.S)
ROOT = pathlib.Path(__file__).resolve().parent.parent
SHIPPED = sorted(folder.name for folder in ROOT.glob("memory*") if folder.name != "memory-testkit")


def shipped(file):
    """Returns a file's code without comments, strings, attributes and test modules."""
    text = NOISE.sub(lambda found: " " if found[0].startswith("/") else '""', file.read_text())
    for found in reversed(list(MODULE.finditer(text))):
        if "cfg(test)" in found[1] and found[3] == "{":
            text = text[: found.start()] + text[closing(text, found.end()) :]
    return ATTRIBUTE.sub("", text)


def examples(file):
    """Returns the words of the compiled examples in a file's documentation."""
    comments = (re.sub(r"^[ \t]*//[/!] ?", "", found[0], flags=re.M) for found in COMMENT.finditer(file.read_text()))
    return [word for text in comments for code in EXAMPLE.findall(text) for word in re.findall(r"\w+", code)]


def tests(root):
    """Returns the files of modules under `#[cfg(test)]`."""
    for file in root.rglob("*.rs"):
        for found in MODULE.finditer(file.read_text()):
            if "cfg(test)" in found[1] and found[3] == ";":
                folder = file.parent if file.stem in ("lib", "main") else file.with_suffix("")
                yield folder / f"{found[2]}.rs"


def main():
    skipped = {file for crate in SHIPPED for file in tests(ROOT / crate / "src")}
    files = [file for crate in SHIPPED for file in sorted((ROOT / crate / "src").rglob("*.rs"))]
    files += sorted((ROOT / "examples").rglob("*.rs"))
    uses, defined = collections.Counter(), collections.defaultdict(list)
    for file in files:
        if file in skipped or any(parent.with_suffix(".rs") in skipped for parent in file.parents if parent.name):
            continue
        text = shipped(file)
        uses.update(examples(file))
        uses.update(re.findall(r"\w+", re.sub(r"\bpub(?:\([^)]*\))?\s+use\s+[^;]+;", "", text)))
        if ROOT / "memory-core" in file.parents:
            names = DEFINITION.findall(text) + FIELD.findall(text)
            for found in VARIANTS.finditer(text):
                body = text[found.end() : closing(text, found.end()) - 1]
                while "(" in body or "{" in body:
                    shorter = re.sub(r"\([^()]*\)|\{[^{}]*\}", "", body)
                    if shorter == body:
                        break
                    body = shorter
                names += VARIANT.findall(body)
            for name in names:
                defined[name].append(file.relative_to(ROOT))
    unused = [(file, name) for name, places in defined.items() if uses[name] <= len(places) for file in places]
    for file, name in sorted(unused):
        print(f"{file}: {name}")
    print(f"public items that only tests use: {len(unused)}")
    return 1 if unused else 0


if __name__ == "__main__":
    sys.exit(main())
