#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""What the libraries show to the world, exports, SONAME and dependencies, and what their code calls."""
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


# The names of OpenSHMEM that do not begin with shmem_ (abi/shmem_table.py, OLDEST).
OLDEST = ("start_pes", "_my_pe", "_num_pes", "shmalloc", "shfree", "shrealloc", "shmemalign")


def is_mpi(name):
    return name.startswith(("MPI_", "PMPI_", "MPIX_", "PMPIX_"))


def is_shmem(name):
    return name.startswith(("shmem_", "pshmem_")) or name in OLDEST or name[1:] in OLDEST


def check_names(symbols, found, must, prefix, table):
    """The functions of one interface, each under its own name and the profiling one."""
    must = must | {prefix + name for name in must}
    yield from (f"{name} is in {table} but not exported" for name in sorted(must - found))
    yield from (f"{name} is exported but not in {table}" for name in sorted(found - must))
    for name in sorted(found & must):
        if name.startswith(prefix) and name[1:] in found & must:
            if symbols[name][1] != "T" or symbols[name[1:]] != (symbols[name][0], "W"):
                yield f"{name[1:]} is not a weak name of {name}"


def check_exports(library, generator):
    symbols = exported(library)
    mpi = {name for kind in ("--list", "--list-extensions") for name in output(sys.executable, generator, kind).split()}
    shmem = set(output(sys.executable, generator, "--list-shmem").split())
    yield from check_names(symbols, {name for name in symbols if is_mpi(name)}, mpi, "P", "implemented.txt or extensions.txt")
    yield from check_names(symbols, {name for name in symbols if is_shmem(name)}, shmem, "p", "shmem_table.py")
    for name in sorted(symbols):
        if not is_mpi(name) and not is_shmem(name) and not name.startswith("weft_abi_"):
            yield f"{name} is exported: only MPI_*, MPIX_*, their P names, names of OpenSHMEM and weft_abi_* may be"


def check_stub(stub, library, interface):
    """What a program can link with is what it finds when it runs."""
    of_interface = {"mpi_abi": is_mpi, "shmem": is_shmem}[interface]
    names = {name for name in exported(stub) if not name.startswith("weft_abi_")}
    real = {name for name in exported(library) if of_interface(name)}
    yield from (f"{name} is in one of {stub} and {library} only" for name in sorted(names ^ real))
    if dynamic(stub, "SONAME") != [f"lib{interface}.so.1"]:
        yield f"SONAME of {stub} is {dynamic(stub, 'SONAME')}"
    if "libweft.so" in dynamic(stub, "NEEDED"):
        yield f"{stub} would make programs depend on libweft.so"


def check_soname(library, interface):
    if dynamic(library, "SONAME") != [f"lib{interface}.so.1"]:
        yield f"SONAME is {dynamic(library, 'SONAME')}"
    if "libweft.so" not in dynamic(library, "NEEDED"):
        yield f"does not load libweft.so but {dynamic(library, 'NEEDED')}"
    yield from (f"exports {name} of its own" for name in exported(library))


def check_needed(library):
    yield from (f"depends on {name}" for name in dynamic(library, "NEEDED") if not ALLOWED.fullmatch(name))


# The C library's functions that copy or fill, and those that _FORTIFY_SOURCE makes of them.
COPIES = re.compile(r"(__)?w?mem(p?cpy|ccpy|move|set)(_\w+)?|bcopy|bzero")


def check_copies(archive, member):
    """`member` of the archive copies by code of its own alone."""
    rows = [line.rsplit(":", 2)[1:] for line in output("nm", "-A", archive).splitlines()]
    symbols = [row.split() for name, row in rows if name == member]
    if not symbols:
        yield f"{archive} has no {member}"
    for kind, name in (symbol for symbol in symbols if len(symbol) == 2):
        if kind == "U" and COPIES.fullmatch(name):
            yield f"{member} calls {name}, which may be a string instruction: copies there are loops of loads (src/base/copy.hpp)"


def check_object(generator, *objects):
    """An object of a program needs functions of the standard alone, so that it runs on every library with this ABI."""
    names = set(output(sys.executable, generator, "--list").split())
    for name in sorted(set(re.findall(r" U (\w+)", output("nm", *objects)))):
        if is_mpi(name) and name.removeprefix("P") not in names or "weft" in name.lower():
            yield f"the object needs {name}, which is no function of the standard ABI"


CHECKS = {"object": check_object, "exports": check_exports, "stub": check_stub, "soname": check_soname, "needed": check_needed, "copies": check_copies}


def main():
    found = list(CHECKS[sys.argv[1]](*sys.argv[2:]))
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
