#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""OpenSHMEM beside other libraries: shmem.c compiled for each, run in turn, the ratio of medians for each row.

    bench/shmem.py [--peer NAME CC RUN]... [--rounds 9] [--pes 2] [--only TEXT] [--picture FILE.svg] [bytes...]

Weft is the one in build/install; without --peer the other is Open MPI's OSHMEM. Rows in us are better when small, those
in M/s when large; `times` is Weft's figure over the peer's.
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

import picture

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
    parser.add_argument("--peer", nargs=3, action="append", metavar=("NAME", "CC", "RUN"), help="its compiler and launcher")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--pes", type=int, default=2)
    parser.add_argument("--only", metavar="TEXT", help="the rows alone whose name has this text")
    parser.add_argument("--picture", metavar="FILE", help="the ratios as SVG")
    parser.add_argument("sizes", nargs="*")
    options = parser.parse_args()
    allowed = " --allow-run-as-root" if os.geteuid() == 0 else ""
    peers = options.peer or [("OSHMEM", "/usr/bin/oshcc", "/usr/bin/oshrun" + allowed)]
    sides = [("Weft", f"{PREFIX}/oshcc", f"{PREFIX}/oshrun --oversubscribe"), *peers]
    words = (["--only", options.only] if options.only else []) + options.sizes
    values = collections.defaultdict(lambda: collections.defaultdict(list))
    units = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, compiler, _ in sides:
            build(compiler, f"{folder}/{name}")
        for _ in range(options.rounds):
            for side, _, launcher in sides:
                for row, (value, unit) in rows_of(launcher, options.pes, f"{folder}/{side}", words).items():
                    values[row][side].append(value)
                    units[row] = unit
    show(values, units, [name for name, _, _ in peers], options.picture)


def show(values, units, peers, path):
    """`values` are runs by row and side."""
    print(f"{'row':20} {'bytes':>8} unit {'Weft':>10}" + "".join(f" {peer:>10}  times" for peer in peers))
    drawn = []
    for (name, size), sides in values.items():
        if "Weft" not in sides:
            continue
        unit, ours = units[name, size], statistics.median(sides["Weft"])
        theirs = {peer: statistics.median(sides[peer]) for peer in peers if peer in sides}
        beside = [f" {theirs[peer]:10.4g} {ours / theirs[peer]:6.2f}" if peer in theirs else f"{'-':>11}{'-':>7}"
                  for peer in peers]
        print(f"{name:20} {size:>8} {unit:4} {ours:10.4g}" + "".join(beside))
        drawn.append((f"{name.removeprefix('shmem_')}, {size} bytes",
                      {peer: ours / its if unit == "M/s" else its / ours for peer, its in theirs.items()}))
    if path:
        pathlib.Path(path).write_text(picture.svg("OpenSHMEM: Weft beside other libraries", peers, drawn), encoding="utf-8")


if __name__ == "__main__":
    main()
