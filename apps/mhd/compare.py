#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Ranks against threads, by apps/mhd, on one or several MPI libraries: three tables of speed (million cells a second).

One binary of mhd runs on every library with the standard ABI. Libraries, layouts and ways take turns within a round; a
number is the median over the rounds, a ratio is taken within each round and its median is given. It needs no network
and nothing but Python, the binary and the libraries.
"""

import argparse
import dataclasses
import os
import pathlib
import platform
import re
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import libraries  # noqa: E402

# The grid of most cells: patches of 32 x 32 cells. The one of small patches: the same number of patches, of 8 x 8.
LARGE, SMALL = (512, 32), (128, 8)
MOST_STEPS = 400  # the problem stays the same one, and of finite length


@dataclasses.dataclass(frozen=True)
class Case:
    key: str  # of the library
    way: str
    ranks: int
    threads: int
    grid: tuple = LARGE
    design: str = "hot"


def share(key, threads):
    """Options and settings with which each rank gets `threads` processors of its own."""
    if key == "mpich":
        return ("-bind-to", f"core:{threads}"), {}
    if key == "intel":
        return (), {"I_MPI_PIN": "1", "I_MPI_PIN_DOMAIN": str(threads)}
    if key == "openmpi":
        return ("--map-by", f"slot:PE={threads}", "--bind-to", "core"), {}
    return (), {}


class Runner:
    def __init__(self, mhd, found, limit):
        self.mhd, self.limit = mhd, limit
        self.found = {library.key: library for library in found}
        self.bound = {}
        self.failed = {}

    def run(self, case, steps, bound):
        library = self.found[case.key]
        program = library.own_programs / self.mhd.name if library.own_programs else self.mhd
        library.check(program)
        settings = {} if case.design == "hot" or case.key != "weft" else {"WEFT_THREAD_DESIGN": case.design}
        if bound:
            options, more = share(case.key, case.threads)
            settings |= more
        else:
            options = library.kind.unbound
        command = [*library.mpiexec(), *options, "-n", str(case.ranks), str(program), "-q",
                   "-w", case.way, "-t", str(case.threads), "-n", str(case.grid[0]), "-b", str(case.grid[1]),
                   "-s", str(steps)]
        return libraries.run_command(command, library.environment("unbound", settings), self.limit)

    def try_out(self, ranks, threads):
        """A short run of each library, bound if it can be; all must compute the same."""
        states = {}
        for key, library in self.found.items():
            for bound in (True, False):
                try:
                    out = self.run(Case(key, "window", ranks, threads, (64, 8)), 10, bound)
                    states[key] = re.search(r"state: (\w+)", out).group(1)
                    self.bound[key] = bound
                    break
                except libraries.Failure as error:
                    reason = str(error)
            if key not in self.bound:
                print(f"{library.title}: does not run mhd: {reason}")
                self.failed[key] = reason
        if len(set(states.values())) > 1:
            print(f"WRONG: the libraries disagree: {states}")
        return states

    def speed(self, case, steps):
        """Million cells a second; the part of the threads' time in MPI and waiting; None when it failed once."""
        if case in self.failed:
            return None
        try:
            out = self.run(case, steps, self.bound[case.key])
        except libraries.Failure as error:
            self.failed[case] = str(error)
            print(f"{case}: {error}", file=sys.stderr)
            return None
        return (float(re.search(r"speed: ([\d.]+)", out).group(1)),
                *map(float, re.search(r"in MPI ([\d.]+) %, waiting ([\d.]+) %", out).groups()))


def cases_of(keys, cores):
    middle = max((r for r in range(1, cores + 1) if cores % r == 0 and r * r <= cores), default=1)
    layouts = sorted({(cores, 1), (middle, cores // middle), (1, cores)}, reverse=True)
    widths = [t for t in (1, 2, 4, 8, 16, 32) if t < cores] + [cores]
    half = max(2, min(cores // 2, 2)), max(1, cores // 2)
    cases = []
    for key in keys:
        cases += [Case(key, way, *layout) for way in ("window", "communicators") for layout in layouts]
        cases.append(Case(key, "ranks", cores, 1))
        cases += [Case(key, "window", 1, width) for width in widths if (1, width) not in layouts]
        for way in ("communicators", "window"):
            designs = ("hot", "global") if key == "weft" else ("hot",)
            cases += [Case(key, way, *half, SMALL, design) for design in designs]
    return layouts, widths, half, list(dict.fromkeys(cases))


def measure(runner, cases, seconds, rounds):
    """By case: what each round gave. The first round starts with a guess of the number of steps."""
    begin, results = time.monotonic(), {case: [] for case in cases}
    base = {}
    target = 0.4 * seconds / max(1, len(cases) * rounds)
    done = 0
    for turn in range(rounds):
        start = time.monotonic()
        for case in cases if turn % 2 == 0 else reversed(cases):
            known = base.get(case) or (base.get(case.grid, 2.0) * case.ranks * case.threads)
            steps = int(min(MOST_STEPS, max(3, target * 1e6 * known / case.grid[0] ** 2)))
            got = runner.speed(case, steps)
            results[case].append(got)
            if got:
                base[case] = got[0]
                base.setdefault(case.grid, got[0] / (case.ranks * case.threads))
            if turn > 0 and time.monotonic() - begin > 1.3 * seconds:
                return {one: values[:turn] for one, values in results.items()}, turn
        done = turn + 1
        now = time.monotonic()
        if now - begin + (now - start) > 1.15 * seconds:
            break
    return results, done


class Table:
    """What was measured, as text."""

    def __init__(self, results):
        self.results = results

    def good(self, case):
        return [one for one in self.results.get(case, []) if one]

    def speed(self, case):
        values = sorted(one[0] for one in self.good(case))
        if not values:
            return "failed"
        return f"{statistics.median(values):.1f} ({values[0]:.1f} to {values[-1]:.1f})"

    def ratio(self, above, below, factor=1.0):
        pairs = zip(self.results.get(above, []), self.results.get(below, []))
        values = [factor * a[0] / b[0] for a, b in pairs if a and b]
        return f"{statistics.median(values):.2f}" if values else "-"

    def part(self, case, which):
        values = [one[which] for one in self.good(case)]
        return f"{statistics.median(values):.1f}" if values else "-"


def show(head, rows):
    print("| " + " | ".join(head) + " |")
    print("|" + "|".join(["---"] * 3 + ["---:"] * (len(head) - 3)) + "|")
    for row in rows:
        print("| " + " | ".join(map(str, row)) + " |")


def report(results, keys, titles, cores, layouts, widths, half):
    table = Table(results)
    print(f"\nAll ranks and all threads: {LARGE[0]} x {LARGE[0]} cells, patches of {LARGE[1]} x {LARGE[1]}, {cores} cores")
    rows = []
    for key in keys:
        for way in ("window", "communicators", "ranks"):
            for layout in layouts if way != "ranks" else [(cores, 1)]:
                case = Case(key, way, *layout)
                rows.append((titles[key], way, f"{layout[0]} x {layout[1]}", table.speed(case),
                             table.ratio(case, Case(key, way, cores, 1)), table.ratio(case, Case("weft", way, *layout)),
                             table.part(case, 1), table.part(case, 2)))
    show(("library", "-w", "ranks x threads", "speed", "to all ranks", "to Weft", "in MPI %", "waiting %"), rows)

    print("\nThreads of one rank, window: efficiency to one thread")
    rows = []
    for key in keys:
        for width in widths:
            case = Case(key, "window", 1, width)
            rows.append((titles[key], "window", f"1 x {width}", table.speed(case),
                         table.ratio(case, Case(key, "window", 1, 1), 1 / width)))
    show(("library", "-w", "ranks x threads", "speed", "efficiency"), rows)

    print(f"\nSmall patches: {SMALL[0]} x {SMALL[0]} cells, patches of {SMALL[1]} x {SMALL[1]}, {half[0]} x {half[1]}")
    rows = []
    for key in keys:
        for way in ("communicators", "window"):
            hot, wide = Case(key, way, *half, SMALL), Case(key, way, *half, SMALL, "global")
            base = Case("weft", way, *half, SMALL)
            rows.append((titles[key], way, "hot" if key == "weft" else "", table.speed(hot), table.ratio(hot, base),
                         table.part(hot, 1), table.part(hot, 2)))
            if key == "weft":
                rows.append((titles[key], way, "global", table.speed(wide), table.ratio(wide, base), table.part(wide, 1),
                             table.part(wide, 2)))
    show(("library", "-w", "WEFT_THREAD_DESIGN", "speed", "to Weft hot", "in MPI %", "waiting %"), rows)


def processor():
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
        names = re.findall(r"model name\s*: (.*)", file.read())
    return names[0] if names else platform.machine()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mhd", type=pathlib.Path, help="the program")
    parser.add_argument("libraries", nargs="+", metavar="NAME=DIR", help=libraries.GIVEN)
    parser.add_argument("--cores", type=int, default=len(os.sched_getaffinity(0)), help="as many as this process may use")
    parser.add_argument("--seconds", type=float, default=60, help="of all runs together (60)")
    parser.add_argument("--timeout", type=float, default=20, help="seconds of a run; one that does not end is not tried again (20)")
    parser.add_argument("--rounds", type=int, default=3, help="at most (3); fewer when the time is over")
    args = parser.parse_args()
    if not args.mhd.is_file():
        parser.error(f"there is no program {args.mhd}")
    try:
        found = [libraries.given(word) for word in args.libraries]
    except libraries.Failure as error:
        parser.error(str(error))
    if args.cores < 2 or args.seconds <= 0 or args.rounds < 1:
        parser.error("two cores, some time and a round are the least")

    print(f"{processor()}, {args.cores} of {os.cpu_count()} processors, Linux {platform.release()}, "
          f"load average {os.getloadavg()[0]:.1f}")
    runner = Runner(args.mhd.resolve(), found, limit=args.timeout)
    states = runner.try_out(2, max(1, args.cores // 2))
    keys = [library.key for library in found if library.key in states]
    if not keys:
        return 1
    titles = {library.key: library.title for library in found}
    print("; ".join(f"{titles[key]}: {'its own share of processors to each rank' if runner.bound[key] else 'not bound'}, "
                    f"state {states[key]}" for key in keys))
    layouts, widths, half, cases = cases_of(keys, args.cores)
    begin = time.monotonic()
    results, rounds = measure(runner, cases, args.seconds, args.rounds)
    print(f"{len(cases)} cases, {rounds} rounds, {time.monotonic() - begin:.0f} s; speed in million cells a second: "
          "median (least to most)")
    report(results, keys, titles, args.cores, layouts, widths, half)
    return 0 if len(set(states.values())) == 1 else 1


sys.exit(main())
