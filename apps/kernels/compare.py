#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""The kernels on one or several MPI libraries, by the same binaries: a table of their figures of merit.

Libraries take turns within a round; a number is the median over the rounds. The ratio compares the first library with
the best of the others round by round, and is the median of that: above 1 the first one is faster. The spread is that of
the ratio over the rounds. A wrong result counts as a failure; a kernel that was not built is left out.
"""

import argparse
import pathlib
import re
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import libraries  # noqa: E402

# Kernel, way, and repetitions (-s) that take about a tenth of a second on a quiet machine.
CASES = [("daxpy", "allreduce", 50), ("summa", "broadcast", 10), ("isort", "alltoallv", 10), ("spmv", "allgatherv", 200),
         ("spmv", "window", 200), ("spgemm", "ring", 10), ("knn", "ring", 5), ("bfs", "alltoallv", 5), ("bfs", "window", 5),
         ("outsort", "alltoallv", 1), ("fft", "slab", 20), ("fft", "pencil", 20), ("fft", "window", 20),
         ("adaptive", "alltoallv", 200)]


def measure(library, folder, case, ranks, limit):
    """The figure of merit, its unit, and the part of the time in MPI."""
    name, way, steps = case
    program = (library.own_programs or folder) / name
    library.check(program)
    command = [*library.launch(ranks), str(program), "-w", way, "-s", str(steps)]
    out = libraries.run_command(command, library.environment(), limit)
    found = re.search(r": ([\d.e+]+) ([^,]+), [\d.e-]+ s, ([\d.]+) % in MPI, right", out)
    if not found:
        raise libraries.Failure(f"no right result: {out.strip()[:120]}")
    return float(found.group(1)), found.group(2), float(found.group(3))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, help="of the kernels, as build/release/apps/kernels")
    parser.add_argument("libraries", nargs="+", metavar="NAME=DIR", help=libraries.GIVEN)
    parser.add_argument("-n", dest="ranks", type=int, default=2, help="ranks, bound to a core each (2)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--timeout", type=float, default=20, help="seconds of a run; one that does not end is not tried again (20)")
    parser.add_argument("--only", default=".", help="kernels whose names match")
    args = parser.parse_args()
    try:
        found = [libraries.given(word) for word in args.libraries]
    except libraries.Failure as error:
        parser.error(str(error))
    cases = [case for case in CASES if re.search(args.only, case[0]) and (args.folder / case[0]).exists()]
    if not cases:
        parser.error(f"there are no such kernels in {args.folder}")
    results, failures, units = {}, {}, {}
    for _ in range(args.rounds):
        for case in cases:
            for library in found:
                key = case, library.key
                value = None
                if key not in failures:
                    try:
                        value = measure(library, args.folder.resolve(), case, args.ranks, args.timeout)
                        units[case] = value[1]
                    except libraries.Failure as error:
                        failures[key] = str(error)
                        print(f"{case[0]} {case[1]} on {library.title}: {error}", file=sys.stderr)
                results.setdefault(key, []).append(value)

    print("| kernel | way | unit | " + " | ".join(library.title for library in found) + " | ratio (spread) | in MPI |")
    print("|---|---|---|" + "---:|" * (len(found) + 2))
    for case in cases:
        cells = []
        for library in found:
            values = [one[0] for one in results[case, library.key] if one]
            cells.append(f"{statistics.median(values):.4g}" if values else "failed")
        rounds = list(zip(*(results[case, library.key] for library in found)))
        ratios = [row[0][0] / max(one[0] for one in row[1:] if one) for row in rounds if row[0] and any(row[1:])]
        ratio = f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})" if ratios else "-"
        share = [row[0][2] for row in rounds if row[0]]
        inside = f"{statistics.median(share):.1f} %" if share else "-"
        print(f"| `{case[0]}` | `{case[1]}` | {units.get(case, '')} | {' | '.join(cells)} | {ratio} | {inside} |")
    return 1 if failures else 0


sys.exit(main())
