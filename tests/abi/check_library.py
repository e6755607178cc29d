#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""What the libraries show to the world: exports, SONAME, dependencies."""
import re
import subprocess
import sys

# Beside these, nothing: libstdc++ and libgcc are inside, hwloc and the fabrics are loaded when they are needed.
ALLOWED = re.compile(r"lib(c|m|dl|rt|pthread)\.so\.\d+|ld-linux.*")


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def exported(library):
    """name -> (address, kind) of what `library` defines for others."""
    rows = (line.split() for line in output("nm", "-D", "--defined-only", library).splitlines())
    return {name.split("@")[0]: (address, kind) for address, kind, name in rows}


def dynamic(library, tag):
    return re.findall(rf"\({tag}\).*\[(.*)\]", output("readelf", "-dW", library))


def check_exports(library, generator):
    must = set(output(sys.executable, generator, "--list").split())
    must |= {"P" + name for name in must}
    symbols = exported(library)
    mpi = {name for name in symbols if name.startswith(("MPI_", "PMPI_"))}
    yield from (f"{name} is listed in implemented.txt but not exported" for name in sorted(must - mpi))
    yield from (f"{name} is exported but not listed in implemented.txt" for name in sorted(mpi - must))
    for name in sorted(set(symbols) - mpi):
        if not name.startswith("weft_abi_"):
            yield f"{name} is exported: only MPI_*, PMPI_* and weft_abi_* may be"
    for name in sorted(mpi & must):
        if name.startswith("PMPI_") and name[1:] in symbols:
            if symbols[name][1] != "T" or symbols[name[1:]] != (symbols[name][0], "W"):
                yield f"{name[1:]} is not a weak name of {name}"


def check_stub(stub, library):
    """What a program can link with is what it finds when it runs."""
    names = {name for name in exported(stub) if not name.startswith("weft_abi_")}
    real = {name for name in exported(library) if not name.startswith("weft_abi_")}
    yield from (f"{name} is in one of {stub} and {library} only" for name in sorted(names ^ real))
    if dynamic(stub, "SONAME") != ["libmpi_abi.so.1"]:
        yield f"SONAME of {stub} is {dynamic(stub, 'SONAME')}"
    if "libweft.so" in dynamic(stub, "NEEDED"):
        yield f"{stub} would make programs depend on libweft.so"


def check_soname(library):
    if dynamic(library, "SONAME") != ["libmpi_abi.so.1"]:
        yield f"SONAME is {dynamic(library, 'SONAME')}"
    if "libweft.so" not in dynamic(library, "NEEDED"):
        yield f"does not load libweft.so but {dynamic(library, 'NEEDED')}"
    yield from (f"exports {name} of its own" for name in exported(library))


def check_needed(library):
    yield from (f"depends on {name}" for name in dynamic(library, "NEEDED") if not ALLOWED.fullmatch(name))


CHECKS = {"exports": check_exports, "stub": check_stub, "soname": check_soname, "needed": check_needed}


def main():
    found = list(CHECKS[sys.argv[1]](*sys.argv[2:]))
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
