#!/usr/bin/env python3
"""Finds files of one crate that import each other in a loop.

An arrow goes from a file to the file that defines the name it uses: re-exports are followed, and `mod` alone is no
arrow. Modules under `#[cfg(test)]` are left out. Prints each circle with its arrows and exits with 1 if there is any.

    scripts/circles.py [CRATE ...]     # all crates of the workspace
"""

import pathlib
import re
import sys

# At the beginning of a line only: what stands further in is a method, which no path names.
ITEM = re.compile(
    r"^(?:pub(?:\([^)]*\))?\s+)?(?:default\s+|async\s+|const\s+|unsafe\s+|extern\s+\"[^\"]*\"\s+)*"
    r"(?:fn|struct|enum|union|trait|type|const|static)\s+(?:mut\s+)?(\w+)",
    re.M,
)
MACRO = re.compile(r"macro_rules!\s+(\w+)")
MODULE = re.compile(r"((?:#\[[^\]]*\]\s*)*)(?:pub(?:\([^)]*\))?\s+)?mod\s+(\w+)\s*(;|\{)")
USE = re.compile(r"(?:pub(?:\([^)]*\))?\s+)?\buse\s+([^;]+);")
PATH = re.compile(r"(?<![\w:])(\w+(?:::\w+)+)")
NOISE = re.compile(r"//[^\n]*|/\*.*?\*/|r(#*)\".*?\"\1|b?\"(?:\\.|[^\"\\])*\"|b?'(?:\\.[^']*|[^'\\])'", re.S)


def plain(text):
    """Returns Rust source without comments, strings and characters."""
    return NOISE.sub(lambda found: " " if found[0].startswith("/") else '""', text)


def closing(text, start):
    """Returns the place behind the block that opens before `start`."""
    depth = 1
    for place in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if depth == 0:
            return place + 1
    return len(text)


def leaves(tree, before=()):
    """Yields (path, name it is known by) of each leaf of a `use` tree."""
    tree = tree.strip()
    if tree.endswith("}"):
        head, _, inner = tree[:-1].partition("{")
        before += tuple(part for part in head.strip().split("::") if part)
        depth, start = 0, 0
        for place, sign in enumerate(inner + ","):
            depth += {"{": 1, "}": -1}.get(sign, 0)
            if sign == "," and depth == 0:
                if inner[start:place].strip():
                    yield from leaves(inner[start:place], before)
                start = place + 1
        return
    path, _, alias = (part.strip() for part in tree.partition(" as "))
    path = before + tuple(part for part in path.split("::") if part)
    if path and path[-1] == "self":
        path = path[:-1]
    yield path, alias or path[-1]


class Module:
    """What a file says: its modules, its items, and the names it imports."""

    def __init__(self, file, path):
        self.file, self.path = file, path
        self.children, self.names, self.globs = {}, {}, []
        text = plain(file.read_text())
        for found in reversed(list(MODULE.finditer(text))):
            is_test, name, is_inline = "cfg(test)" in found[1], found[2], found[3] == "{"
            end = closing(text, found.end()) if is_inline else found.end()
            text = text[: found.start()] + text[end:]
            child = None if is_test or is_inline else self.child(name)
            if child:
                self.children[name] = Module(child, path + (name,))
        for found in USE.finditer(text):
            for leaf, name in leaves(found[1]):
                if name == "*":
                    self.globs.append(leaf[:-1])
                else:
                    self.names[name] = leaf
        self.items = set(ITEM.findall(text)) | set(MACRO.findall(text))
        self.paths = {tuple(found.split("::")) for found in PATH.findall(USE.sub("", text))}

    def child(self, name):
        folder = self.file.parent if self.file.stem in ("lib", "main") else self.file.with_suffix("")
        file = folder / f"{name}.rs"
        return file if file.exists() else None

    def all(self):
        yield self
        for child in self.children.values():
            yield from child.all()


class Crate:
    def __init__(self, root):
        self.root = Module(root, ())
        self.modules = {module.path: module for module in self.root.all()}

    def start(self, module, path):
        """Returns the module at which a path begins, and the rest of the path; nothing if it leads out of the crate."""
        head, rest = path[0], path[1:]
        if head in ("crate", "$crate"):
            return self.root, rest
        if head == "self":
            return module, rest
        if head == "super":
            parent = self.modules[module.path[:-1]] if module.path else None
            while parent and rest and rest[0] == "super":
                parent, rest = self.modules.get(parent.path[:-1]), rest[1:]
            return parent, rest
        if head in module.children:
            return module, path
        return None, path

    def defines(self, module, path, seen=frozenset()):
        """Returns the file that defines what a path names, as seen in a module."""
        if not path or (module.path, path) in seen:
            return None
        seen = seen | {(module.path, path)}
        at, rest = self.start(module, path)
        if at is None:
            known = module.names.get(path[0])
            return self.defines(module, known + path[1:], seen) if known and known != path else None
        for place, name in enumerate(rest):
            if name in at.items:
                return at
            if name in at.children:
                at = at.children[name]
                continue
            after = rest[place + 1 :]
            if name in at.names:
                return self.defines(at, at.names[name] + after, seen)
            for glob in at.globs:
                found = self.defines(at, glob + (name,) + after, seen)
                if found and name in found.items:
                    return found
            return None
        return at

    def arrows(self):
        """Returns for each file the files it uses, with the names."""
        arrows = {}
        for module in self.modules.values():
            paths = set(module.paths)
            for name, path in module.names.items():
                is_passed_on = path[0] in module.children and not self.uses(module, name)
                if not is_passed_on:
                    paths.add(path)
            for path in paths:
                found = self.defines(module, path)
                if found and found is not module and not found.path == ():
                    arrows.setdefault(module, {}).setdefault(found, set()).add(path[-1])
        return arrows

    def uses(self, module, name):
        """Tells whether a file that re-exports a name also uses it."""
        text = MODULE.sub("", USE.sub("", plain(module.file.read_text())))
        return re.search(rf"(?<!fn )(?<!\.)\b{name}\b", text) is not None


def circles(arrows):
    """Returns the strongly connected parts of more than one file (Tarjan)."""
    order, low, stack, found = {}, {}, [], []

    def visit(node):
        order[node] = low[node] = len(order)
        stack.append(node)
        for other in arrows.get(node, {}):
            if other not in order:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], order[other])
        if low[node] == order[node]:
            part = stack[stack.index(node) :]
            del stack[stack.index(node) :]
            if len(part) > 1:
                found.append(part)

    for node in list(arrows):
        if node not in order:
            visit(node)
    return found


def main():
    sys.setrecursionlimit(10_000)
    root = pathlib.Path(__file__).resolve().parent.parent
    crates = sys.argv[1:] or sorted(str(path.parent.relative_to(root)) for path in root.glob("memory*/Cargo.toml"))
    count = 0
    for crate in crates:
        for entry in ("src/lib.rs", "src/main.rs"):
            file = root / crate / entry
            if not file.exists():
                continue
            arrows = Crate(file).arrows()
            for part in circles(arrows):
                count += 1
                print(f"circle of {len(part)} files in {crate}:")
                for module in sorted(part, key=lambda module: module.file):
                    for other, names in sorted(arrows[module].items(), key=lambda arrow: arrow[0].file):
                        if other in part:
                            one, two = (path.file.relative_to(file.parent) for path in (module, other))
                            print(f"  {one} -> {two}: {', '.join(sorted(names))}")
    print(f"circles: {count}")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
