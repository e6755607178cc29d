#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Compares libmpi.so.40 with Open MPI's: the functions for programs in C are there, and data symbols have the same sizes, since
the linker reserves those in programs.

symbols_test.py OURS OPEN_MPIS
"""
import re
import subprocess
import sys

# Helpers of Open MPI's Fortran library, and names of Fortran.
OF_FORTRAN = re.compile(r"P?MPI_(\w+_F90|(COMM_|TYPE_|WIN_)?(DUP|NULL_COPY|NULL_DELETE)_FN|CONVERSION_FN_NULL)")
FUNCTION = re.compile(r"P?MPIX?_[A-Z]\w*|OMPI_C_\w+")


def symbols(library, kind):
    """Names of exported symbols of a kind, with their sizes."""
    listed = subprocess.run(["readelf", "-Ws", "--dyn-syms", library], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in listed.splitlines()]
    return {row[7].partition("@")[0]: int(row[2], 0) for row in rows if len(row) > 7 and row[3] == kind and row[6] != "UND"}


def main():
    ours, theirs = sys.argv[1:3]
    data, other_data = symbols(ours, "OBJECT"), symbols(theirs, "OBJECT")
    wrong = [f"{name}: {size} bytes, not {other_data[name]}" for name, size in data.items() if size != other_data.get(name, size)]
    functions = {name for name in symbols(theirs, "FUNC") if FUNCTION.fullmatch(name) and not OF_FORTRAN.fullmatch(name)}
    wrong += sorted(f"{name} is missing" for name in functions - symbols(ours, "FUNC").keys())
    same = len(data.keys() & other_data.keys())
    print(*wrong, f"{same} data symbols and {len(functions)} functions compared", sep="\n")
    return 1 if wrong or same < 100 or len(functions) < 800 else 0


if __name__ == "__main__":
    sys.exit(main())
