#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Performance guidelines, timed: no collective operation takes longer than an obvious composition of others that does the
same (an allreduce: a reduce and a bcast), nor a regular form longer than its v form.

  guidelines.py [--launcher build/install/bin/mpiexec] [--program build/release/bench/collectives] [-n RANKS] [--runs K]

Prints what takes longer by more than a tenth: the median of the runs' ratios. launch/Simulate holds the same under a model.
Exit status: 0, or 1 when there is something to print."""

import argparse
import collections
import statistics
import subprocess
import sys

COMPOSITIONS = {
    "allreduce": [("reduce", "bcast"), ("reduce_scatter_block", "allgather")],
    "reduce": [("allreduce",)],
    "gather": [("allgather",), ("gatherv",)],
    "scatter": [("scatterv",), ("alltoall",)],
    "bcast": [("allreduce",)],
    "allgather": [("alltoall",), ("allgatherv",)],
    "alltoall": [("alltoallv",)],
    "reduce_scatter_block": [("reduce_scatter",)],
    "exscan": [("scan",)],
}
# Whose data, to compare with others, are those of all ranks: ("reduce_scatter_block", "allgather") of blocks.
OF_ALL = ("reduce_scatter_block", "allgather")
SLACK = 1.1


def times(words):
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    found = {}
    for line in done.stdout.splitlines():
        name, size, value, _ = line.split()
        found[name.removeprefix("coll_"), int(size)] = float(value)
    return found


def ratios(found, ranks):
    """{(operation, composition, size): how many times the composition's time}"""
    result = {}
    for name, compositions in COMPOSITIONS.items():
        for (other, size), took in found.items():
            if other != name:
                continue
            for parts in compositions:
                block = size // ranks if parts == OF_ALL else size
                if all((part, block) in found for part in parts):
                    result[name, " + ".join(parts), size] = took / sum(found[part, block] for part in parts)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--launcher", default="build/install/bin/mpiexec")
    parser.add_argument("--program", default="build/release/bench/collectives")
    parser.add_argument("-n", type=int, default=2, dest="ranks")
    parser.add_argument("--runs", type=int, default=3)
    args = parser.parse_args()
    sizes = sorted({size * factor for size in (8, 1024, 65536, 1 << 20) for factor in (1, args.ranks) if size * factor <= 1 << 20})
    collected = collections.defaultdict(list)
    for _ in range(args.runs):
        found = times([args.launcher, "--oversubscribe", "-n", str(args.ranks), args.program, *map(str, sizes)])
        for key, ratio in ratios(found, args.ranks).items():
            collected[key].append(ratio)
    longer = {key: statistics.median(values) for key, values in collected.items() if statistics.median(values) > SLACK}
    for (name, other, size), ratio in sorted(longer.items(), key=lambda item: -item[1]):
        print(f"{name} of {size} bytes takes {ratio:.2f} times as long as {other}")
    print(f"{len(collected)} comparisons with {args.ranks} ranks, {len(longer)} above {SLACK}")
    return 1 if longer else 0


if __name__ == "__main__":
    sys.exit(main())
