#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""A process without a launcher that spawns, where the library lies without its mpiexec: the error names the remedy, or the
mpiexec of another library.

usage: no_launcher.py PROGRAM LIBRARY...
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile


def main():
    program, libraries = sys.argv[1], sys.argv[2:]
    failures = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for part in ("lib", "empty", "foreign"):
            (folder / part).mkdir()
        for library in libraries:
            shutil.copy(os.path.realpath(library), folder / "lib" / pathlib.Path(library).name)
        foreign = folder / "foreign" / "mpiexec"
        foreign.write_text("#!/bin/sh\nexit 1\n")
        foreign.chmod(0o755)
        for path, expected in (("empty", "is neither beside the library nor in PATH. Remedy: install Weft whole"),
                               ("foreign", f"{foreign} cannot serve it. Remedy: see whether it is Weft's mpiexec")):
            done = subprocess.run([program, "meet"], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False,
                                  env={**os.environ, "LD_LIBRARY_PATH": str(folder / "lib"), "PATH": str(folder / path)})
            if done.returncode == 0 or expected not in done.stderr:
                failures += 1
                print(f"PATH={path}: status {done.returncode}, {done.stderr[:600]!r} without {expected!r}")
    print(f"{failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
