#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Rounds that MPI_File_sync acknowledged are in the file, whenever the job is killed: file_killed.py MPIEXEC VICTIM TIMES SEED.

Each time one rank gets SIGKILL at a random moment. That the data also outlive the machine is fsync's promise, which no
test of a process can see.
"""
import array
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

RANKS = 3
NUMBERS = 512  # of a block: file_victim.cpp


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as listed:
        return [int(child) for child in listed.read().split()]


def ranks_of(launcher):
    """The processes below the launcher that have none below them."""
    found = []
    for child in children(launcher):
        found += ranks_of(child) or [child]
    return found


def once(mpiexec, victim, folder):
    path = os.path.join(folder, "rounds")
    job = subprocess.Popen([mpiexec, "--oversubscribe", "-n", str(RANKS), victim, path], stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL, text=True)
    acknowledged = int(job.stdout.readline())  # the first round: all ranks are there
    time.sleep(random.uniform(0, 0.03))
    os.kill(random.choice(ranks_of(job.pid)), signal.SIGKILL)
    for line in job.stdout:
        if line.endswith("\n"):  # the last one may be cut off
            acknowledged = int(line)
    if job.wait() == 0:
        sys.exit("the job was killed and ended with 0")
    with open(path, "rb") as written:
        numbers = array.array("i", written.read(acknowledged * RANKS * NUMBERS * 4))
    os.remove(path)
    for number in range(acknowledged):
        block = numbers[number * RANKS * NUMBERS:(number + 1) * RANKS * NUMBERS]
        if list(block) != [number + 1] * (RANKS * NUMBERS):
            sys.exit(f"round {number + 1} of {acknowledged} was acknowledged and is not in the file")
    return acknowledged


def main():
    mpiexec, victim, times, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    random.seed(seed)
    with tempfile.TemporaryDirectory(dir=".") as folder:
        rounds = [once(mpiexec, victim, folder) for _ in range(times)]
    print(f"killed {times} times after {min(rounds)} to {max(rounds)} rounds: all that was acknowledged is there")


main()
