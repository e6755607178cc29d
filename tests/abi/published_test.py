#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Programs that were linked with a release run on its followers: no exported name is lost, no data changes its size, and
the types of the headers keep theirs. The folder `published` has a file for each library, and one for the types.

published_test.py FOLDER_OF_LISTS TYPES_PROGRAM LIBRARY... [--update]

With --update the lists are written anew: for names that a version adds. Nothing leaves a list.
"""
import collections
import pathlib
import re
import subprocess
import sys

# Names between the libraries of one build, which change with it.
PRIVATE = re.compile(r"weft_abi_face_\w+|ompi_weft_\w+")


def dynamic(library):
    """The SONAME, and the exported symbols as {name: size}, where functions have None."""
    listed = subprocess.run(["readelf", "-dW", "--dyn-syms", library], capture_output=True, text=True, check=True).stdout
    soname = re.search(r"\(SONAME\).*\[(.*)\]", listed).group(1)
    rows = (line.split() for line in listed.splitlines())
    symbols = {row[7].partition("@")[0]: int(row[2], 0) if row[3] == "OBJECT" else None
               for row in rows if len(row) > 7 and row[3] in ("OBJECT", "FUNC") and row[6] != "UND"}
    return soname, {name: size for name, size in symbols.items() if not PRIVATE.fullmatch(name)}


def split(name, names):
    """(stem, form) of a name. PMPI_Send is the form P of MPI_Send, mpi_send__ the form __ of mpi_send."""
    prefix = name[0] if name[0] in "Pp" and name[1:] in names else ""
    rest = name[len(prefix):]
    stem = rest.rstrip("_")
    form = prefix + rest[len(stem):]
    return (stem.lower(), form + "^") if stem.isupper() else (stem, form)


def lines_of(symbols):
    """The list of a library: data with their sizes, then groups of names that have the same forms."""
    forms = collections.defaultdict(set)
    for name, size in symbols.items():
        if size is None:
            stem, form = split(name, symbols)
            forms[stem].add(form)
    groups = collections.defaultdict(list)
    for stem, found in forms.items():
        groups[" ".join(sorted(f"{f}." if f == "" else f for f in found))].append(stem)
    yield from (f"data {name} {size}" for name, size in sorted(symbols.items()) if size is not None)
    for found in sorted(groups):
        yield f"forms {found}"
        yield from (f"  {stem}" for stem in sorted(groups[found]))


def names_in(lines):
    """The symbols of a list, as dynamic() has them."""
    symbols, forms = {}, []
    for line in lines:
        word, *rest = line.split()
        if word == "data":
            symbols[rest[0]] = int(rest[1])
        elif word == "forms":
            forms = ["" if form == "." else form for form in rest]
        else:
            for form in forms:
                stem = word.upper() if form.endswith("^") else word
                form = form.removesuffix("^")
                prefix = form.rstrip("_")
                symbols[prefix + stem + form[len(prefix):]] = None
    return symbols


def differences(listed, found):
    for name, size in listed.items():
        if name not in found:
            yield f"{name} is exported no more: programs that were linked with it do not start"
        elif found[name] != size:
            yield f"{name} has {found[name]} bytes in place of {size}: programs have copies of the old size"
    for name in sorted(found.keys() - listed.keys()):
        yield f"{name} is new: add it to the list by --update"


def compare(path, found, lines, update):
    """Problems of one list, which is written anew where that is wanted and loses nothing."""
    listed = names_in(path.read_text().splitlines()) if path.is_file() else {}
    problems = list(differences(listed, found))
    if update and all(" is new: " in problem for problem in problems):
        path.write_text("\n".join(lines) + "\n")
        return []
    return [f"{path.name}: {problem}" for problem in problems]


def main():
    words = [word for word in sys.argv[1:] if word != "--update"]
    update = len(words) < len(sys.argv) - 1
    folder, types, libraries = pathlib.Path(words[0]), words[1], words[2:]
    problems, count = [], 0
    for library in libraries:
        soname, symbols = dynamic(library)
        assert names_in(list(lines_of(symbols))) == symbols, f"the list of {soname} loses names"
        problems += compare(folder / f"{soname}.txt", symbols, lines_of(symbols), update)
        count += len(symbols)
    lines = subprocess.run([types], capture_output=True, text=True, check=True).stdout.splitlines()
    problems += compare(folder / "types.txt", names_in(lines), lines, update)
    print(*problems[:40], sep="\n")
    print(f"{count} names of {len(libraries)} libraries and {len(lines)} sizes compared: {len(problems)} differ")
    return 1 if problems or count < 5000 else 0


if __name__ == "__main__":
    sys.exit(main())
