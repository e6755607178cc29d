#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Generates what follows from the tables of MPI's and OpenSHMEM's functions and constants (docs/design/abi.md).

  generate.py            writes include/mpi.h and include/shmem.h, which are checked in
  generate.py --check    fails when one of them is not what its table gives
  generate.py --out DIR  writes what the build needs into DIR
  generate.py --list     prints the implemented functions of MPI, one per line
  generate.py --list-shmem   those of OpenSHMEM
  generate.py --list-extensions   those of include/mpix.h
"""
import argparse
import pathlib
import sys

sys.dont_write_bytecode = True  # a source tree may be read-only

import build_files  # noqa: E402
import face  # noqa: E402
import foreign  # noqa: E402
import foreign_mpich  # noqa: E402
import foreign_openmpi  # noqa: E402
import fortran  # noqa: E402
import fortran_f08  # noqa: E402
import fortran_mpich  # noqa: E402
import fortran_openmpi  # noqa: E402
import fortran_openmpi_test  # noqa: E402
import header  # noqa: E402
import observe  # noqa: E402
import shmem_build  # noqa: E402
import shmem_header  # noqa: E402
import shmem_table  # noqa: E402
import table  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent


def write(path, text):
    """Leaves a file alone that is right already: what depends on it is not built again."""
    if path.exists() and path.read_text() == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def write_build_files(out, functions, constants):
    ready = table.implemented(functions)
    write(out / "mpi" / "functions.hpp", build_files.functions_hpp(functions))
    write(out / "mpi" / "names.hpp", build_files.names_hpp(constants["constants"]))
    for name, text in build_files.entry_files(functions, ready):
        write(out / name, text)
    shmem = shmem_table.functions()
    for name, text in shmem_build.entry_files(shmem):
        write(out / name, text)
    mpi_names, shmem_names = build_files.exported(ready), shmem_build.exported(shmem)
    mpi_names += [prefix + name for name in table.extensions() for prefix in ("", "P")]
    write(out / "weft.map", build_files.map_file(mpi_names + shmem_names))
    write(out / "link_stub.c", build_files.link_stub(mpi_names, "libmpi_abi.so"))
    write(out / "shmem_link_stub.c", build_files.link_stub(shmem_names, "libshmem.so"))
    write(out / "constants_test.c", build_files.constants_test(constants))
    write(out / "stats" / "calls.hpp", observe.calls_hpp(ready, shmem))
    write(out / "observed.cpp", observe.observed_cpp(ready, face.face_names(ready)))
    for name, text in [*face.build_files(ready), *foreign.build_files(foreign_mpich.MPICH, functions, ready, constants),
                       *foreign_openmpi.build_files(functions, ready, constants), *fortran.build_files(ready, constants),
                       *fortran_f08.build_files(ready, constants), *fortran_mpich.build_files(ready),
                       *fortran_openmpi.build_files(ready), *fortran_openmpi_test.build_files(ready)]:
        write(out / name, text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--list-shmem", action="store_true")
    parser.add_argument("--list-extensions", action="store_true")
    args = parser.parse_args()
    functions, constants = table.functions(), table.constants()
    headers = {"mpi.h": header.render(functions, constants), "shmem.h": shmem_header.render(shmem_table.functions())}
    if args.list:
        print("\n".join(f.name for f in table.implemented(functions)))
    elif args.list_extensions:
        print("\n".join(table.extensions()))
    elif args.list_shmem:
        print("\n".join(f.name for f in shmem_table.functions()))
    elif args.out:
        write_build_files(args.out, functions, constants)
    elif args.check:
        for name, text in headers.items():
            path = ROOT / "include" / name
            if not path.exists() or path.read_text() != text:
                print(f"include/{name} is out of date: run abi/generate.py", file=sys.stderr)
                return 1
    else:
        for name, text in headers.items():
            write(ROOT / "include" / name, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
