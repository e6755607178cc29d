#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Performance guidelines, timed: no collective operation takes longer than an obvious composition of others that does the
same (an allreduce: a reduce and a bcast), nor a regular form longer than its v form, nor any than the best composition of
point-to-point calls that a user would write (bench/compositions.c).

  guidelines.py [-n 2,4,8] [--sizes 8,65536] [--runs K] [--launcher build/install/bin/mpiexec] [--programs build/release/bench]

The programs take turns, a run of each in every round. A ratio is that of one round; of a composition the median of its
ratios counts, and of those of point-to-point calls the one that is hardest to reach. Prints what takes longer by more than
a tenth. With --best the ratio is that of the shortest times of all rounds, for a machine that others use at the same time:
they only ever make a time longer. With --fresh data are written anew before each call: those that nobody changes stay in
the caches of others, where single copies of messages find them. launch/Simulate holds the guidelines of others under a
model.
Exit status: 0, or 1 when there is something to print; 0 with --unjudged, unless a program fails, which is 2."""

import argparse
import collections
import os
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


SIZES = [8, 1024, 65536, 1 << 20]  # against compositions of others
USER_SIZES = [8, 1 << 10, 8 << 10, 64 << 10, 1 << 20, 4 << 20]  # against those of point-to-point calls


class Failure(Exception):
    """A program did not end as it should."""


def times(args, ranks, program, sizes):
    """{(operation or composition, size): microseconds}"""
    words = [args.launcher, "--oversubscribe", "-n", str(ranks), os.path.join(args.programs, program), f"--most={args.most}",
             *(["--quick"] if args.quick else []), *(["--fresh"] if args.fresh else []), *map(str, sorted(set(sizes)))]
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=args.timeout)
    except subprocess.CalledProcessError as error:
        raise Failure(f"{program} with {ranks} ranks: exit status {error.returncode}\n{error.stderr}") from None
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Failure(f"{program} with {ranks} ranks: {error}") from None
    found = {}
    for line in done.stdout.splitlines():
        name, size, value, _ = line.split()
        found[name.removeprefix("coll_").removeprefix("user_").removesuffix("_fresh"), int(size)] = float(value)
    if not found:
        raise Failure(f"{program} with {ranks} ranks: no result printed")
    return found


def least(known, more):
    """The shorter time of each, in `known` too."""
    for key, value in more.items():
        known[key] = min(value, known.get(key, value))
    return known


def ratios(found, ranks):
    """{(operation, composition of others, size): how many times the composition's time}"""
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


def user_ratios(found, user):
    """{(operation, composition of point-to-point calls, size): how many times the composition's time}"""
    result = {}
    for (name, size), took in user.items():
        operation, _, composition = name.rpartition("_")
        result[operation, composition, size] = found[operation, size] / took
    return result


def hardest(medians):
    """Of the compositions of each operation and size the one with the largest ratio."""
    best = {}
    for (name, composition, size), ratio in medians.items():
        if ratio > best.get((name, size), (0, ""))[0]:
            best[name, size] = (ratio, composition)
    return {(name, composition, size): ratio for (name, size), (ratio, composition) in best.items()}


def report(medians, kind):
    longer = {key: ratio for key, ratio in medians.items() if ratio > SLACK}
    for (name, other, size), ratio in sorted(longer.items(), key=lambda item: -item[1]):
        print(f"{name} of {size} bytes takes {ratio:.2f} times as long as {kind}{other}")
    return len(longer)


def measure(args, ranks):
    """Whether all guidelines hold with so many ranks."""
    sizes = args.sizes or [size * factor for size in SIZES for factor in (1, ranks) if size * factor <= 1 << 20] + USER_SIZES
    others, users = collections.defaultdict(list), collections.defaultdict(list)
    best_found, best_user = {}, {}
    for number in range(args.runs):
        print(f"{ranks} ranks, round {number + 1} of {args.runs}", file=sys.stderr)
        found = times(args, ranks, "collectives", sizes)
        user = times(args, ranks, "compositions", args.sizes or USER_SIZES)
        if args.best:
            found, user = least(best_found, found), least(best_user, user)
            others.clear()
            users.clear()
        for collected, values in ((others, ratios(found, ranks)), (users, user_ratios(found, user))):
            for key, ratio in values.items():
                collected[key].append(ratio)
    others = {key: statistics.median(values) for key, values in others.items()}
    users = hardest({key: statistics.median(values) for key, values in users.items()})
    longer = report(others, "")
    print(f"{len(others)} comparisons with {ranks} ranks, {longer} above {SLACK}")
    longer_users = report(users, "point-to-point calls, ")
    print(f"{len(users)} comparisons with point-to-point calls and {ranks} ranks, {longer_users} above {SLACK}", flush=True)
    return longer + longer_users == 0


def numbers(text):
    return [int(word) for word in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--launcher", default="build/install/bin/mpiexec")
    parser.add_argument("--programs", default="build/release/bench", help="folder of collectives and compositions")
    parser.add_argument("-n", type=numbers, default=[2], dest="ranks", metavar="LIST", help="numbers of ranks (default 2)")
    parser.add_argument("--sizes", type=numbers, default=[], metavar="LIST", help="bytes of a rank's data or block")
    parser.add_argument("--most", type=int, default=16 << 20, metavar="BYTES",
                        help="leave out operations in which a rank gives or gets more (default %(default)s)")
    parser.add_argument("--runs", type=int, default=3, help="rounds (default 3)")
    parser.add_argument("--best", action="store_true",
                        help="the best rounds of both, not the median of ratios: for a machine that others use")
    parser.add_argument("--fresh", action="store_true", help="data are written anew before each call, 4 KiB and more")
    parser.add_argument("--quick", action="store_true", help="short blocks: to see that it works")
    parser.add_argument("--timeout", type=float, default=300, help="seconds that one run may take (default %(default)s)")
    parser.add_argument("--unjudged", action="store_true", help="end with 0 whatever is printed, unless a program fails")
    args = parser.parse_args()
    try:
        held = [measure(args, ranks) for ranks in args.ranks]
    except Failure as error:
        print(f"guidelines.py: {error}", file=sys.stderr)
        return 2
    return 0 if args.unjudged or all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
