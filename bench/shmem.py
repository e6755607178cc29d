#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""OpenSHMEM beside another library: shmem.c compiled for both, run in turn, the ratio of medians for each row.

    bench/shmem.py [--peer-cc oshcc] [--peer-run "oshrun"] [--rounds 9] [--pes 2] [bytes...]

Weft is the one in build/install. Rows in us are better when small, those in M/s when large; `times` is Weft's figure over
the peer's.
"""
import argparse
import collections
import os
import pathlib
import shlex
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PREFIX = HERE.parent / "build" / "install" / "bin"


def build(compiler, program):
    subprocess.run([*shlex.split(compiler), "-O2", "-D_GNU_SOURCE", "-w", str(HERE / "shmem.c"), "-o", program, "-lpthread"],
                   check=True)


def rows_of(launcher, pes, program, sizes):
    """Value and unit by name and size; empty where the program failed."""
    done = subprocess.run([*shlex.split(launcher), "-n", str(pes), program, *sizes], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=600)
    found = {}
    for line in done.stdout.splitlines():
        words = line.split()
        if len(words) == 4:
            found[words[0], words[1]] = float(words[2]), words[3]
    # Some libraries crash after their last row, in the end of the job.
    if done.returncode != 0 and not found:
        sys.exit(f"{launcher} ended with {done.returncode}:\n{done.stderr}")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer-cc", default="/usr/bin/oshcc")
    parser.add_argument("--peer-run", default="/usr/bin/oshrun" + (" --allow-run-as-root" if os.geteuid() == 0 else ""))
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--pes", type=int, default=2)
    parser.add_argument("sizes", nargs="*")
    options = parser.parse_args()
    values = collections.defaultdict(lambda: ([], []))
    units = {}
    with tempfile.TemporaryDirectory() as folder:
        sides = [(f"{PREFIX}/oshcc", f"{PREFIX}/oshrun --oversubscribe"), (options.peer_cc, options.peer_run)]
        programs = [f"{folder}/weft", f"{folder}/peer"]
        for (compiler, _), program in zip(sides, programs):
            build(compiler, program)
        for _ in range(options.rounds):
            for side, ((_, launcher), program) in enumerate(zip(sides, programs)):
                for row, (value, unit) in rows_of(launcher, options.pes, program, options.sizes).items():
                    values[row][side].append(value)
                    units[row] = unit
    print(f"{'row':20} {'bytes':>8} {'Weft':>10} {'peer':>10} unit  times")
    for (name, size), (ours, theirs) in values.items():
        if ours and theirs:
            a, b = statistics.median(ours), statistics.median(theirs)
            print(f"{name:20} {size:>8} {a:10.4g} {b:10.4g} {units[name, size]:4} {a / b:6.2f}")


main()
