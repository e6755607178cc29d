#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""kill -9 of a random rank in the middle of transfers of device data, over and over: each job ends as others do
(tests/mpi/kill.py), the device works for the next program, and as much of its memory is unused as before.

usage: kill.py MPIEXEC VICTIM UNUSED [runs] [seed]
"""
import pathlib
import subprocess
import sys
import time

LIMIT = 30  # seconds until the driver has taken back the memory of the dead
SKIPPED = 77


def unused(program):
    done = subprocess.run([program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode == SKIPPED:
        print(done.stderr.strip())
        sys.exit(SKIPPED)
    if done.returncode != 0:
        sys.exit(f"kill.py: the device does not work: {done.stderr.strip()}")
    return int(done.stdout)


def main():
    mpiexec, victim, program, *rest = sys.argv[1:]
    before = unused(program)
    kill = pathlib.Path(__file__).resolve().parent.parent / "mpi" / "kill.py"
    status = subprocess.run([sys.executable, str(kill), mpiexec, victim, *rest]).returncode
    if status != 0:
        sys.exit(status)
    end = time.monotonic() + LIMIT
    while (after := unused(program)) < before:
        if time.monotonic() > end:
            sys.exit(f"kill.py: {before - after} bytes of the device are still in use, {LIMIT} s after the last job")
        time.sleep(0.2)
    print(f"unused bytes of the device: {before} before, {after} after")


if __name__ == "__main__":
    main()
