# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""The table of MPI functions and constants, and what follows from it for our own names."""
import json
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent

# A scalar that may be widened on its way from the int function to the _c function.
WIDER = {("int", "MPI_Count"), ("int", "MPI_Aint"), ("MPI_Aint", "MPI_Count")}

# Constructors whose narrow form stays visible: MPI_Type_get_envelope says whether the arguments were int or
# MPI_Count (MPI-5.0, 5.1.13), so the narrow function is not the wide one with widened arguments.
REMEMBERED = {"MPI_Type_contiguous", "MPI_Type_vector", "MPI_Type_create_hvector", "MPI_Type_create_resized"}

RESERVED = set("""alignas alignof and asm auto bool break case catch char class compl concept const continue default
delete do double else enum explicit export extern false float for friend goto if inline int long mutable namespace new
not operator or private protected public register requires return short signed sizeof static struct switch template
this throw true try typedef typeid typename union unsigned using virtual void volatile while xor
errno assert offsetof major minor linux unix stdin stdout stderr""".split())


def declare(type_, name):
    """The declaration of `name` as `type_`, where an array's brackets stand behind the name."""
    base, bracket, dims = type_.partition("[")
    return f"{pointers_left(base).strip()} {name}{bracket}{dims}"


def pointers_left(text):
    return re.sub(r" (\*+) ?", r"\1 ", text)


class Param:
    def __init__(self, row):
        self.type = row["type"]
        self.name = row["name"]
        self.variadic = self.type == "..."

    def __str__(self):
        return "..." if self.variadic else declare(self.type, self.name)


class Function:
    def __init__(self, row):
        self.name = row["name"]
        self.returns = row["returns"]
        self.params = [Param(p) for p in row["params"]]
        self.deprecated_in = row.get("deprecated_in")
        self.wide = None  # the _c function that implements this one too
        inner = self.name.removeprefix("MPI_").lower()
        self.inner = inner + "_" if inner in RESERVED else inner

    def prototype(self, prefix="", name=None, variadic=True):
        params = [str(p) for p in self.params if variadic or not p.variadic]
        return f"{self.returns} {prefix}{name or self.name}", params or ["void"]

    def call(self):
        """The call of the implementation from the entry point; widening is the language's own conversion. It goes through
        the table of calls, which statistics exchange for another: one jump, as a call by name would be."""
        args = ", ".join(p.name for p in self.params if not p.variadic)
        return f"weft_calls.{(self.wide or self).inner}({args})"


def widens(narrow, wide):
    if narrow.name in REMEMBERED or len(narrow.params) != len(wide.params):
        return False
    return all(a.type == b.type or (a.type, b.type) in WIDER for a, b in zip(narrow.params, wide.params))


def functions():
    table = [Function(row) for row in json.loads((HERE / "functions.json").read_text())["functions"]]
    by_name = {f.name: f for f in table}
    for f in table:
        wide = by_name.get(f.name + "_c")
        if wide and widens(f, wide):
            f.wide = wide
    return table


def constants():
    return json.loads((HERE / "constants.json").read_text())


def extensions():
    """The functions of include/mpix.h."""
    lines = (HERE / "extensions.txt").read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def implemented(table):
    """The functions named in implemented.txt, in the order of the table; an unknown or repeated name is an error."""
    names = set()
    known = {f.name for f in table}
    for number, line in enumerate((HERE / "implemented.txt").read_text().splitlines(), 1):
        name = line.partition("#")[0].strip()
        if not name:
            continue
        if name not in known:
            raise SystemExit(f"abi/implemented.txt:{number}: {name} is not in the table of MPI functions")
        if name in names:
            raise SystemExit(f"abi/implemented.txt:{number}: {name} is listed twice")
        names.add(name)
    return [f for f in table if f.name in names]


def wrap(head, params, tail, width=120):
    """`head(params)tail`, broken between parameters where the line would be longer than `width`."""
    lines, line = [], head + "("
    indent = "    "
    for i, param in enumerate(params):
        piece = param + (", " if i + 1 < len(params) else ")" + tail)
        if len(line) + len(piece.partition("\n")[0].rstrip()) > width:
            lines.append(line.rstrip())
            line = indent
        line += piece
    lines.append(line)
    return "\n".join(lines)
