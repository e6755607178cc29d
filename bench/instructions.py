#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Counts the instructions inside calls of MPI and OpenSHMEM, callees included, with callgrind: a number that no noise changes.

bench/calls.c (puts.c) is run for two numbers of rounds; the difference of instructions divided by the difference of
calls is one call in the steady state, without first contacts and lazy binding. Every rank runs under a valgrind of its
own.

  instructions.py --launcher build/install/bin/mpiexec --program build/bench/calls --budget MPI_Isend=100
  instructions.py --library weft --library mpich

Exit status: 0, 1 when a budget is exceeded or its call was not seen, 77 when there is no valgrind or the
library gives less than --multiple asks for.
"""

import argparse
import collections
import os
import pathlib
import re
import shlex
import shutil
import sys
import tempfile

import libraries

ROUNDS = (20, 60)
AGAIN = 4  # counts more of a call above its budget


def call_of(function):
    """The call that a function is: Fortran's mpi_isend_f08ts_ and mpi_isend_fts_ are MPI_Isend."""
    match = re.match(r"P?(MPI_\w+)", function) or re.match(r"p?(shmem_\w+)", function)
    if match:
        return match[1]
    match = re.match(r"p?mpi_(\w+?)_(f08_|f08ts_|fts_)?$", function)
    return f"MPI_{match[1].capitalize()}" if match else None


def read_counts(path):
    """{call: (calls, instructions)} of the calls from functions named count_*.

    Read from the calls= records themselves: they hold what was executed between call and return. The MPI_ and PMPI_
    names share an address, as shmem_ and pshmem_ do, so either can appear.
    """
    names = {}

    def name_of(text):
        # Names are written once as '(7) name', later as '(7)'; callgrind appends 'N to recursive ones.
        match = re.match(r"\((\d+)\)(?: (.*))?$", text)
        if not match:
            return text
        if match[2] is not None:
            names[match[1]] = match[2]
        return names.get(match[1], "")

    counts = collections.defaultdict(lambda: [0, 0])
    caller = callee = ""
    calls = None
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            if calls is not None:
                cost = line.split()
                call = call_of(callee)
                if call and caller.partition("_MOD_")[2 if "_MOD_" in caller else 0].startswith("count_"):
                    counts[call][0] += calls
                    counts[call][1] += int(cost[1]) if len(cost) > 1 else 0
                calls = None
            elif line.startswith("fn="):
                caller = name_of(line[3:].strip())
            elif line.startswith("cfn="):
                callee = name_of(line[4:].strip())
            elif line.startswith("calls="):
                calls = int(line[6:].split()[0])
    return counts


def run_once(launcher, program, arguments, environment, rounds, timeout):
    total = collections.defaultdict(lambda: [0, 0])
    with tempfile.TemporaryDirectory(prefix="instructions-") as folder:
        # Bound at start, so that the dynamic linker is in none of the calls.
        environment = {**environment, "LD_BIND_NOW": "1"}
        command = [*launcher, "valgrind", "--tool=callgrind", "--quiet", f"--callgrind-out-file={folder}/out.%p",
                   str(program), str(rounds), *arguments]
        libraries.run_command(command, environment, timeout)
        for path in pathlib.Path(folder).glob("out.*"):
            for call, (calls, instructions) in read_counts(path).items():
                total[call][0] += calls
                total[call][1] += instructions
    return total


def per_call(launcher, program, arguments, environment, timeout):
    few, many = (run_once(launcher, program, arguments, environment, rounds, timeout) for rounds in ROUNDS)
    result = {}
    for call, (calls, instructions) in many.items():
        if calls > few[call][0]:
            result[call] = (instructions - few[call][1]) / (calls - few[call][0])
    return result


def measure(launcher, programs, environment, args):
    arguments = ["--multiple"] if args.multiple else []
    found = {}
    for program in programs:
        found.update(per_call(launcher, program, arguments, environment, args.timeout))
    return found


def measure_for(budgets, *what):
    """As measure(). Where ranks meet, one that comes first polls, which adds instructions and never takes any away: a
    call above its budget is counted again, and the least counts."""
    found = measure(*what)
    for _ in range(AGAIN):
        if all(found.get(call, 0) <= most for call, most in budgets):
            break
        for call, count in measure(*what).items():
            found[call] = min(count, found.get(call, count))
    return found


def check(found, budgets):
    passed = True
    for call, most in budgets:
        if call not in found:
            print(f"{call}: not seen, its budget is {most}")
            passed = False
        elif found[call] > most:
            print(f"{call}: {found[call]:.0f} instructions, above its budget of {most}")
            passed = False
    return passed


def budget(text):
    call, _, most = text.partition("=")
    if not most.isdigit():
        raise argparse.ArgumentTypeError("a budget is written MPI_Isend=100")
    return call, int(most)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--launcher", type=shlex.split, help="starts two ranks when '-n 2' is added")
    parser.add_argument("--program", action="append", default=[], type=pathlib.Path,
                        help="bench/calls.c or puts.c as built, repeatable")
    parser.add_argument("--library", dest="chosen", action="append", default=[], choices=list(libraries.KINDS),
                        help="instead: this library as bench.sh finds it, repeatable")
    parser.add_argument("--weft", type=pathlib.Path, default=libraries.ROOT / "build" / "install",
                        help="where Weft is installed (default build/install)")
    parser.add_argument("--multiple", action="store_true", help="with MPI_THREAD_MULTIPLE")
    parser.add_argument("--put", action="store_true", help="with --library: also MPI_Put")
    parser.add_argument("--budget", action="append", default=[], type=budget, metavar="CALL=N",
                        help="fail when CALL takes more than N instructions, repeatable")
    parser.add_argument("--timeout", type=float, default=120, help="seconds for one run (default %(default)s)")
    args = parser.parse_args()
    if bool(args.chosen) == bool(args.launcher and args.program):
        parser.error("give --launcher and --program, or --library")
    if not shutil.which("valgrind"):
        print("no valgrind on this machine: nothing is counted")
        return libraries.SKIP

    columns = {}
    failures = {}
    if args.chosen:
        found, failures = libraries.find(args.chosen, args.weft.resolve())
        failures.update(libraries.build(found))
        for library in found:
            if library.key in failures:
                continue
            programs = [library.program_folder / name for name in (["calls", "puts"] if args.put else ["calls"])]
            try:
                library.check(programs[0])
                columns[library.title] = measure(library.launch(2), programs, library.environment(), args)
            except libraries.Failure as error:
                failures[library.key] = str(error)
    else:
        try:
            columns["instructions"] = measure_for(args.budget, [*args.launcher, "-n", "2"], args.program, dict(os.environ),
                                                  args)
        except libraries.Skipped as error:
            print(error)
            return libraries.SKIP
        except libraries.Failure as error:
            failures["the program"] = str(error)

    calls = sorted({call for column in columns.values() for call in column})
    widths = [max(12, len(title)) for title in columns]
    print("  ".join(["call".ljust(12), *(title.rjust(width) for title, width in zip(columns, widths))]))
    for call in calls:
        cells = [f"{column[call]:.0f}" if call in column else "-" for column in columns.values()]
        print("  ".join([call.ljust(12), *(cell.rjust(width) for cell, width in zip(cells, widths))]))
    for key, text in failures.items():
        print(f"{key} failed: {text}")
    passed = [check(column, args.budget) for column in columns.values()]  # all of them print
    return 0 if all(passed) and not failures else 1


if __name__ == "__main__":
    sys.exit(main())
