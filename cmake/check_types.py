#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""check_types.py ROOT: two rules on the names of types.

No two files of src and tools define a type of one qualified name. Where they do, and the two differ, the program breaks the rule of
one definition without a word of a compiler. Types of anonymous namespaces and of other types do not count here.

A name means one type in src: no two types have it, in whatever namespace, type, function or file they are. SEVERAL lists the
exceptions with their reasons. Template parameters, aliases and specialisations are no types of their own.

Relies on the form that clang-format gives: namespaces and their types begin lines, and what a type holds is indented."""
import collections
import pathlib
import re
import sys

# Headers of which a library has one or the other.
APART = {"weft::fortran::Convert"}
# Names that several types of src have.
FACES = "generated entry points of src/foreign and of src/fortran name it, each for handles of its own kind"
SEVERAL = {
    "Around": "the Fortran library of MPICH's ABI has a definition of its own, with the fields of mpi::Around",
    "Comm": "mpi::Comm is a core::Comm with what only MPI's calls need",
    "Convert": "a Fortran library is built with one of its three headers",
    "File": "mpi::File is an io::File with what only MPI's calls need",
    "HandlesIn": FACES,
    "HandlesInOut": FACES,
    "InOut": FACES,
    "Out": FACES,
    "ReadsNoted": "does nothing in builds without ThreadSanitizer",
    "StringOut": FACES,
}
NAMESPACE = re.compile(r"^(?:inline )?namespace ([\w:]*) ?\{")
END = re.compile(r"^\}  // namespace\b")
# A template's specialisation is another type; `= ` begins an alias and `;` ends a declaration.
TYPE = re.compile(r"^( *)(?:class|struct|union|enum(?: class)?) (?:alignas\([^)]*\) |\[\[[^\]]*\]\] )?"
                  r"((?:\w+::)*)(\w+)(?! *<|::)(?: final)?(?: : [^{;]*)? \{")
# Text that a program compiles later.
RAW = re.compile(r'R"(\w*)\(.*?\)\1"', re.DOTALL)


def types_of(text):
    """Of each type that a file defines: its qualified name, its name, the line, and whether other files see it by that name."""
    open_namespaces = []
    text = RAW.sub(lambda raw: "\n" * raw[0].count("\n"), text)
    for number, line in enumerate(text.splitlines(), 1):
        if begin := NAMESPACE.match(line):
            open_namespaces.append(begin[1])
        elif END.match(line) and open_namespaces:
            open_namespaces.pop()
        elif found := TYPE.match(line):
            yield "::".join([*open_namespaces, found[3]]), found[3], number, not found[1] and not found[2] and "" not in open_namespaces


def main():
    root = pathlib.Path(sys.argv[1])
    places = collections.defaultdict(list)
    meanings = collections.defaultdict(list)
    for folder in ("src", "tools"):
        for path in sorted((root / folder).rglob("*.[ch]pp")):
            file = path.relative_to(root)
            for qualified, name, number, seen in types_of(path.read_text()):
                where = f"{file}:{number}"
                if seen:
                    places[qualified].append(where)
                if folder == "src":
                    meanings[name].append(where)
    wrong = []
    twice = {name: where for name, where in places.items() if len({place.split(":")[0] for place in where}) > 1 and name not in APART}
    for name, where in sorted(twice.items()):
        wrong.append(f"{name} is defined in {' and '.join(where)}: give one another name, or put it into an anonymous namespace")
    for name, types in sorted(meanings.items()):
        if len(types) > 1 and name not in SEVERAL:
            wrong.append(f"{name} is the name of {len(types)} types, in {' and '.join(types)}: give each a name of its own")
        if len(types) == 1 and name in SEVERAL:
            wrong.append(f"{name} is the name of one type, in {types[0]}: take it from the list SEVERAL in check_types.py")
    for message in wrong:
        print(f"check_types: {message}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
