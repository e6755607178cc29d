#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Fails when a file includes what stands to the right of its layer, or its folder in src/mpi, when folders of a
layer in FOLDERED include each other in a circle, when more than three units of src and tools do (a unit is a source
with its header), or when a file ends the process where the policy should (docs/design/architecture.md). --circles prints
the circles of units."""
import pathlib
import re
import sys

# Each layer may include itself and every layer of a smaller level.
LEVEL = {"base": 0, "pages": 1, "stats": 1, "device": 1, "topo": 2, "boot": 2, "datatype": 2, "transport": 3, "core": 4, "observe": 5, "coll": 5, "io": 6,
         "mpi": 7, "shmem": 7, "foreign": 8, "fortran": 9}
# Folders of src/mpi, the lowest first: each may include only itself and those before it.
CHAPTERS = ["object", "env", "observe", "datatype", "p2p", "coll", "comm", "topo", "win", "stream", "file", "process", "tools"]
# The runtime knows nothing of MPI's own header below the mpi layer.
MPI_HEADER_FROM = LEVEL["mpi"]
# Layers whose folders may not include each other in a circle.
FOLDERED = ["boot", "coll", "core", "device", "transport"]
# The most units that may include each other in a circle.
MOST = 3
# Failures are reported to the policy, which alone ends the process, in the layers named.
POLICY = pathlib.PurePath("src/core/object/failure.cpp")
REPORTS_TO_POLICY = ["transport", "core", "coll", "io"]
DIES = re.compile(r"\bbase::die\(")
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^">]+)[">]', re.M)


def violations(root):
    for path in sorted((root / "src").rglob("*.[ch]pp")):
        layer = path.relative_to(root / "src").parts[0]
        if layer not in LEVEL:
            yield f"{path}: folder {layer} is no layer"
            continue
        text = path.read_text()
        if layer in REPORTS_TO_POLICY and path.relative_to(root) != POLICY and DIES.search(text):
            yield f"{path}: base::die() is for {POLICY} alone; report the failure there"
        for name in INCLUDE.findall(text):
            other = name.split("/")[0]
            if name == "mpi.h" and LEVEL[layer] < MPI_HEADER_FROM:
                yield f"{path}: includes mpi.h, which only the mpi layer may"
            if layer == other == "mpi" and name.count("/") == 2:
                yield from chapter_violations(path, path.relative_to(root / "src").parts[1], name)
            if "/" not in name or other not in LEVEL or other == layer:
                continue
            if LEVEL[other] >= LEVEL[layer]:
                yield f"{path}: {layer} may not include {name}"


def chapter_violations(path, chapter, name):
    other = name.split("/")[1]
    for folder in (chapter, other):
        if folder not in CHAPTERS:
            yield f"{path}: src/mpi/{folder} is no folder that CHAPTERS knows"
            return
    if CHAPTERS.index(other) > CHAPTERS.index(chapter):
        yield f"{path}: src/mpi/{chapter} may not include {name}"


def folder_circles(root, layer):
    """Folders of a layer: each may include others, but none that includes it again, itself or through more."""
    top = root / "src" / layer
    first = {}  # (folder, other folder): a file that includes from one into the other
    for path in sorted(top.rglob("*.[ch]pp")):
        folder = path.parent.relative_to(top.parent).as_posix()
        for name in INCLUDE.findall(path.read_text()):
            if name.startswith(f"{layer}/"):
                other = pathlib.PurePosixPath(name).parent.as_posix()
                if other != folder:
                    first.setdefault((folder, other), f"{path}: includes {name}")

    def reaches(start, goal, seen):
        return any(b == goal or (b not in seen and reaches(b, goal, seen | {b})) for a, b in first if a == start)

    for (folder, other), where in sorted(first.items()):
        if reaches(other, folder, {other}):
            yield f"{where}, and {other} includes {folder} in turn"


def units(root):
    """What each unit of src and tools includes, by the path without its suffix."""
    includes = {}
    for top in "src", "tools":
        for path in sorted((root / top).rglob("*.[ch]pp")):
            unit = path.relative_to(root / top).with_suffix("").as_posix()
            others = {str(pathlib.PurePosixPath(name).with_suffix("")) for name in INCLUDE.findall(path.read_text())}
            includes.setdefault(unit, set()).update(others - {unit})
    return {unit: sorted(others & includes.keys()) for unit, others in includes.items()}


def circles(includes):
    """The sets of units that reach each other, the largest first (Tarjan's strongly connected components)."""
    number, low, stack, found = {}, {}, [], []

    def visit(unit):
        number[unit] = low[unit] = len(number)
        stack.append(unit)
        for other in includes[unit]:
            if other not in number:
                visit(other)
            if other in stack:
                low[unit] = min(low[unit], low[other])
        if low[unit] == number[unit]:
            at = stack.index(unit)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for unit in includes:
        if unit not in number:
            visit(unit)
    return sorted(found, key=len, reverse=True)


def large_circles(found):
    for circle in found:
        if len(circle) > MOST:
            yield f"{len(circle)} units include each other in a circle, at most {MOST} may: {' '.join(circle)}"


def main():
    root = pathlib.Path(sys.argv[1])
    sys.setrecursionlimit(10000)
    ring = circles(units(root))
    if "--circles" in sys.argv:
        for circle in ring:
            print(len(circle), *circle)
    in_folders = [line for layer in FOLDERED for line in folder_circles(root, layer)]
    found = [*violations(root), *in_folders, *large_circles(ring)]
    for line in found:
        print(line, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
