#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""mpiexec finds out that a program is of MPICH's ABI, and leads it to libmpi.so.12.

    launch_test.py MPIEXEC PROGRAM      PROGRAM: of MPICH's ABI, without a search path of its own; it needs
                                        libmpicxx.so.12, too
"""
import os
import pathlib
import random
import subprocess
import sys
import tempfile

FAILED = []


def expect(condition, text):
    if not condition:
        FAILED.append(text)
        print(text)


def run(*words, **variables):
    environment = {k: v for k, v in os.environ.items() if k != "LD_LIBRARY_PATH"} | variables
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, errors="replace", timeout=100,
                          env=environment, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout + done.stderr


def finds_by_itself(mpiexec, program):
    status, text = run(mpiexec, "--oversubscribe", "-n", 2, program)
    expect(status == 0, f"a program of MPICH's ABI does not start: {status}\n{text}")
    expect(text.count("needs libmpi.so.12: MPICH's ABI") == 1, f"the launcher does not say once what it does:\n{text}")
    status, text = run(mpiexec, "--oversubscribe", "--quiet", "-n", 2, program, LD_LIBRARY_PATH="/nowhere")
    expect(status == 0 and text == "", f"--quiet is not: {status}\n{text}")


def does_as_asked(mpiexec, program):
    status, text = run(mpiexec, "--abi", "standard", "-n", 1, program)
    expect(status != 0 and "libmpi.so.12" in text, f"--abi standard finds the library: {status}\n{text}")
    # The shell needs no MPI, but the program that it starts does.
    status, text = run(mpiexec, "--abi", "mpich", "--quiet", "-n", 1, "sh", "-c", f"'{program}'; exit $?")
    expect(status == 0 and text == "", f"--abi mpich does not reach a script: {status}\n{text}")
    status, text = run(mpiexec, "--abi", "other", "-n", 1, program)
    expect(status == 2 and "auto, standard, mpich, openmpi or none" in text, f"a wrong ABI is taken: {status}\n{text}")
    status, text = run(mpiexec, "-n", 1, "true")
    expect(status == 0 and "MPICH" not in text, f"a program without MPI is taken for MPICH's: {status}\n{text}")


def broken_files(mpiexec, program):
    """Whatever a file holds, the launcher reads it with bounds: the program cannot start, and that is all."""
    whole = pathlib.Path(program).read_bytes()[:20000]
    chance = random.Random(7)
    with tempfile.TemporaryDirectory(prefix="test-mpich-") as folder:
        path = pathlib.Path(folder) / "broken"
        for turn in range(12):
            data = bytearray(whole[:chance.choice((3, 40, 64, 200, 2000, len(whole)))])
            for _ in range(chance.randrange(1, 60)):
                data[chance.randrange(min(len(data), 1200))] = chance.randrange(256)
            data[0:1] = b"\x7f"
            path.write_bytes(data)
            path.chmod(0o700)
            status, text = run(mpiexec, "--quiet", "-n", 1, path)
            expect(status > 0 and "mpiexec" in text, f"turn {turn}: the launcher itself failed: {status}\n{text}")


def main():
    mpiexec, program = sys.argv[1:3]
    finds_by_itself(mpiexec, program)
    does_as_asked(mpiexec, program)
    broken_files(mpiexec, program)
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
