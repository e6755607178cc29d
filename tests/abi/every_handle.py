#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Writes a program that calls every function of MPI that takes a handle, with handles that are none (every_handle.hpp).

  every_handle.py ABI_FOLDER standard|mpich|openmpi OUTPUT
"""
import pathlib
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])

import roles  # noqa: E402
import table  # noqa: E402
from foreign_mpich import MPICH  # noqa: E402
from foreign_openmpi import OPENMPI  # noqa: E402

TOOLS = {f"MPI_T_{n}" for n in ("enum", "cvar_handle", "pvar_handle", "pvar_session", "event_registration", "event_instance")}
HANDLES = roles.HANDLES | TOOLS
# MPI_Abort ends the program. Functions of attributes do not look at the handle that they get.
LEFT_OUT = re.compile(r"MPI_(Abort|Pcontrol)|OMPI_C_.*")
# These need no handle to be right: any info object may say nothing.
LENIENT = {"MPI_Info"}
NUMBERS = {"int", "const int", "MPI_Count", "MPI_Aint", "MPI_Offset", "MPI_Fint"}
ZERO = re.compile(r"(root|dest|source|tag|rank|target_rank|\w*tag|assert|index|\w*_index|n)$")


def base_of(param):
    return param.type.removeprefix("const ").partition("[")[0].rstrip("* ").strip()


def reads(function, param):
    """Whether a parameter is a handle, or handles, that the function reads."""
    base = base_of(param)
    if base not in HANDLES:
        return False
    if param.type == base or "const" in param.type:
        return True
    if base in TOOLS:
        return function.name.endswith("_free")
    role = roles.role(function.name, param)
    return role is not None and role.kind in ("handle_inout", "handles_inout") or function.name == "MPI_File_close"


def argument(function, param):
    base, name = base_of(param), param.name
    if base in HANDLES:
        if param.type == base:
            return f"wrong<{base}>()"
        return f"wrongs<{base}>()" if reads(function, param) else f"room<{base}>()"
    if param.type in NUMBERS:
        return "0" if ZERO.fullmatch(name) else "1"
    if param.type in ("const char *", "const char []"):
        return '"name"'
    if "char" in param.type and ("[]" in param.type or "**" in param.type):
        return "nullptr"
    if base == "char":
        return "room<char>()"
    if base == "void":
        return "room<char>()"
    if param.type.endswith("[][3]"):
        return "room<int[3]>()"
    if re.search(r"_(function|fn)(_c)?$", base):
        return "nullptr"
    if base == param.type:  # a number of the tools
        return f"static_cast<{base}>(0)"
    return f"room<{base}>()"


def main():
    functions = table.implemented(table.functions())
    abi = {"mpich": MPICH, "openmpi": OPENMPI}.get(sys.argv[2])
    if abi:
        functions = abi.functions(functions) + abi.extra_functions()
    lines, rows = ['#include "every_handle.hpp"\n'], []
    for f in functions:
        given = {base_of(p) for p in f.params if reads(f, p)}
        if not given or LEFT_OUT.fullmatch(f.name):
            continue
        call = f"{f.name}({', '.join(argument(f, p) for p in f.params)})"
        if f.returns == "int" and not re.search(r"_(toint|c2f)$", f.name):
            lines.append(f"static int call_{f.name}() {{\n  return {call};\n}}")
            rows.append((f.name, "true" if given - LENIENT else "false"))
        else:
            lines.append(f"static int call_{f.name}() {{\n  (void){call};\n  return MPI_SUCCESS;\n}}")
            rows.append((f.name, "false"))
    lines.append("\nconst Call calls[] = {")
    lines += [f'    {{"{name}", call_{name}, {must}}},' for name, must in rows]
    lines.append("};\nconst int call_count = sizeof calls / sizeof calls[0];")
    pathlib.Path(sys.argv[3]).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
