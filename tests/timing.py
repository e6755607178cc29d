#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the rows with the label `timing` several times, one after the other with nothing beside them, and shows how what they
measured spreads. Programs say what they measure in lines `timing: NAME: VALUE, at most LIMIT`. A row fails when it failed in
more than half of its runs: a machine that others use for a moment is no defect. Ends as ctest does."""
import argparse
import collections
import os
import re
import statistics
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
OVER = re.compile(r" *\d+/\d+ Test +#\d+: (\S+) \.*\s*(Passed|\*\*\*Skipped|\*\*\*[^0-9]*) +[\d.]+ sec")
MEASURED = re.compile(r"(?:\d+: )?timing: (.+): ([-+.\deE]+|inf), at most ([-+.\deE]+)")


def longest(build, most=50):
    """The rows that took longest when they last ran, and the steps of the last build that took longest, in seconds."""
    rows, steps = [], {}
    with open(os.path.join(build, "Testing", "Temporary", "CTestCostData.txt")) as costs:
        for line in costs:
            name, *numbers = line.split()
            if len(numbers) == 2:  # behind a line '---' are names alone
                rows.append((float(numbers[1]), name))
    with open(os.path.join(build, ".ninja_log")) as log:
        for line in log:
            begin, *rest = line.split("\t")
            if len(rest) == 4:
                steps[rest[2]] = (int(rest[0]) - int(begin)) / 1000
    print(f"{len(rows)} rows, {sum(cost for cost, _ in rows):.0f} s one after the other")
    for cost, name in sorted(rows, reverse=True)[:most]:
        print(f"{cost:8.1f}  {name}")
    print(f"\n{len(steps)} steps, {sum(steps.values()):.0f} s one after the other")
    for name, cost in sorted(steps.items(), key=lambda step: -step[1])[:most]:
        print(f"{cost:8.1f}  {name}")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--longest", action="store_true", help="run nothing: print the fifty rows and steps that last took longest")
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"))
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("-R", dest="pattern", default=".", help="rows whose names match")
    args = parser.parse_args()
    if args.longest:
        return longest(args.build)
    failures, runs, skipped = collections.Counter(), collections.Counter(), set()
    values, limits = collections.defaultdict(list), {}
    for turn in range(args.times):
        done = subprocess.run(["ctest", "--test-dir", args.build, "-L", "timing", "-R", args.pattern, "--parallel", "1", "--timeout", "300",
                               "--verbose", "--no-tests=error"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        said = []  # of the row that runs
        for line in done.stdout.splitlines():
            if measured := MEASURED.search(line):
                said.append((measured[1], float(measured[2]), float(measured[3])))
            elif over := OVER.match(line):
                row, verdict = over[1], over[2]
                for name, value, limit in said:
                    values[row, name].append(value)
                    limits[row, name] = limit
                said = []
                if verdict.startswith("***Skipped"):
                    skipped.add(row)
                    continue
                runs[row] += 1
                if verdict != "Passed":
                    failures[row] += 1
                    print(f"run {turn + 1}: {row} {verdict}", flush=True)
    if not runs:
        print("timing.py: no row ran")
        return 1
    last = None
    for (row, name), seen in sorted(values.items()):
        if row != last:
            print(f"\n{row}: passed {runs[row] - failures[row]} of {runs[row]}")
            last = row
        print(f"  {name}: {min(seen):.4g} to {max(seen):.4g}, median {statistics.median(seen):.4g}, at most {limits[row, name]:.4g}")
    failed = [row for row in runs if 2 * failures[row] > runs[row]]
    print(f"\n{len(skipped)} rows were skipped: {', '.join(sorted(skipped))}" if skipped else "")
    for row in failed:
        print(f"FAILED {row}: in {failures[row]} of {runs[row]} runs")
    print(f"{100 * (len(runs) - len(failed)) // len(runs)}% tests passed, {len(failed)} tests failed out of {len(runs)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
