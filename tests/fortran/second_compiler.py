#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""The programs of this folder by another compiler than the library was built with: mpifort builds the modules for it.

  second_compiler.py PREFIX COMPILER [--with COMPILER_OF_THE_BUILD]

With --with, parts of one program are compiled by both. Exit status: 0, 1 when a program fails.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = ["f08", "f08_point", "f08_collectives", "f08_types", "f08_objects", "f08_windows", "f08_files", "f08_partitions",
            "f08_tool", "f08_spawn", "module", "module_sections", "callbacks", "languages", "removed", "spawn", "mpif_h",
            "wrong_handles"]
IN_C = {"f08_tool": "tool.c", "languages": "languages.c"}


def run(command, folder, **environment):
    result = subprocess.run([str(word) for word in command], cwd=folder, env={**os.environ, **environment},
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=200, check=False)
    if result.returncode != 0:
        print(f"{' '.join(map(str, command))}: status {result.returncode}\n{result.stdout}", flush=True)
    return result.returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prefix", type=pathlib.Path)
    parser.add_argument("compiler")
    parser.add_argument("--with", dest="other")
    args = parser.parse_args()
    args.prefix = args.prefix.resolve()
    wrapper, start = args.prefix / "bin" / "mpifort", [args.prefix / "bin" / "mpiexec", "--oversubscribe", "-n", "2"]
    failed = []
    with tempfile.TemporaryDirectory(prefix="second-compiler-") as folder:
        modules = {"WEFT_MODULES": str(pathlib.Path(folder) / "modules"), "WEFT_FC": args.compiler}
        if not run([wrapper, "-modules"], folder, **modules):
            return 1

        def check(name, *commands):
            if not all([run(command, folder, **modules) for command in commands]) or not run([*start, f"./{name}"], folder):
                failed.append(name)

        for name in PROGRAMS:
            source = next(HERE / (name + ending) for ending in (".f90", ".f") if (HERE / (name + ending)).exists())
            parts = [[args.prefix / "bin" / "mpicc", "-c", HERE / IN_C[name], "-o", f"{name}_c.o"]] if name in IN_C else []
            check(name, *parts, [wrapper, "-O1", source, *([f"{name}_c.o"] if parts else []), "-o", name])
        if args.other:
            # The part's compiler links, with the runtime of the program's.
            check("mixed", [wrapper, "-c", HERE / "mixed_part.f90", "-o", "part.o"],
                  [wrapper, f"-fc={args.other}", "-c", HERE / "mixed.f90", "-o", "mixed.o"],
                  [wrapper, "mixed.o", "part.o", "-o", "mixed", "-lgfortran"])
    print(f"{len(PROGRAMS) + bool(args.other) - len(failed)} programs by {args.compiler} passed", *failed and ["but not", *failed])
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
