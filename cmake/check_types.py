#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""check_types.py ROOT: no two files of src and tools define a type of one qualified name. Where they do, and the two differ, the
program breaks the rule of one definition without a word of a compiler. Types of anonymous namespaces and of other types do not
count. Relies on the form that clang-format gives: namespaces and their types begin lines."""
import collections
import pathlib
import re
import sys

# Headers of which a library has one or the other.
APART = {"weft::fortran::Convert"}
NAMESPACE = re.compile(r"^(?:inline )?namespace ([\w:]*) ?\{")
END = re.compile(r"^\}  // namespace\b")
# A template's specialisation is another type; `= ` begins an alias and `;` ends a declaration.
TYPE = re.compile(r"^(?:class|struct|union|enum(?: class)?) (?:alignas\([^)]*\) |\[\[[^\]]*\]\] )?(\w+)(?! *<)(?: final)?(?: : [^{;]*)? \{")


def types_of(text):
    """Qualified names of the types that a file defines in named namespaces, with the lines."""
    open_namespaces = []
    for number, line in enumerate(text.splitlines(), 1):
        if begin := NAMESPACE.match(line):
            open_namespaces.append(begin[1])
        elif END.match(line) and open_namespaces:
            open_namespaces.pop()
        elif (found := TYPE.match(line)) and "" not in open_namespaces:
            yield "::".join(open_namespaces + [found[1]]), number


def main():
    root = pathlib.Path(sys.argv[1])
    places = collections.defaultdict(list)
    for folder in ("src", "tools"):
        for path in sorted((root / folder).rglob("*.[ch]pp")):
            for name, number in types_of(path.read_text()):
                places[name].append(f"{path.relative_to(root)}:{number}")
    several = {name: where for name, where in places.items() if len({place.split(":")[0] for place in where}) > 1 and name not in APART}
    for name, where in sorted(several.items()):
        print(f"check_types: {name} is defined in {' and '.join(where)}: give one another name, or put it into an anonymous namespace")
    return 1 if several else 0


if __name__ == "__main__":
    sys.exit(main())
