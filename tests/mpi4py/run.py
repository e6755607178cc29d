#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Runs modules of mpi4py's own test suite on Weft and shows a table (docs/measurements/conformance.md).

    run.py --prefix build/install --venv build/venv-mpi4py [--ranks 1 2 3 5] [--results DIR] [module...]
    run.py --launcher 'tests/hosts/mpiexec.py --hydra PATH --hosts 2' ...      started by another mpiexec
    run.py --python build/venv-mpi4py-wheel/bin/python ...      with a wheel of mpi4py; its sources are those of --venv
    run.py --venv build/venv-mpi4py --check      only: does modules.txt name exactly the modules of the suite?
    run.py --results DIR --table                 only: the table of what earlier runs left in DIR
    run.py --list                                the modules to run and from how many ranks, for CMake

modules.txt says of each module whether it runs; a module of the suite that is not in the list is an error, so nothing is
left out in silence. The virtual environment is made by tools/dev/mpi4py.sh.
"""
import argparse
import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent


# The suite's main.py, with mpi4py first among all modules: pickle finds the functions that belong to no module by looking
# through them in that order, which is most of what test_datatype does otherwise.
# One line, as launchers pass it on.
START = ("import sys, mpi4py.MPI, runpy; others = dict(sys.modules); sys.modules.clear(); "
         "sys.modules['mpi4py.MPI'] = others['mpi4py.MPI']; sys.modules.update(others); "
         "sys.argv.pop(0); sys.path[0] = '.'; runpy.run_path(sys.argv[0], run_name='__main__')")


class Plan:
    """modules.txt: what runs, what comes later and why, and single tests left out of modules that run."""

    def __init__(self, path):
        self.run, self.later, self.omit, self.limited = [], {}, {}, {}
        for number, line in enumerate(path.read_text().splitlines(), 1):
            words = line.split("#")[0].split(maxsplit=2)
            if not words:
                continue
            kind, name, reason = words[0], words[1] if len(words) > 1 else "", words[2] if len(words) > 2 else ""
            if kind == "run" and name and not reason:
                self.run.append(name)
            elif kind == "run" and re.fullmatch(r"from \d+ ranks: .+", reason):
                self.run.append(name)
                self.limited[name] = (int(reason.split()[1]), reason)
            elif kind == "later" and reason:
                self.later[name] = reason
            elif kind == "omit" and reason and name.split(".")[0] in self.run:
                self.omit.setdefault(name.split(".")[0], {})[name] = reason
            else:
                sys.exit(f"{path}:{number}: expected 'run MODULE', 'run MODULE from N ranks: REASON', 'later "
                         f"MODULE REASON' or, below the module's run, 'omit MODULE.CLASS.TEST REASON': {line}")

    def check(self, suite):
        there = {p.stem for p in suite.glob("test_*.py")}
        listed = set(self.run) | set(self.later)
        problems = [f"{name} is in the suite and not in modules.txt" for name in sorted(there - listed)]
        problems += [f"{name} is in modules.txt and not in the suite" for name in sorted(listed - there)]
        problems += [f"{name} is listed twice" for name in sorted(set(self.run) & set(self.later))]
        return problems


def outcome(text, ranks):
    """Counts of the rank that ran the most tests; every rank runs the same ones."""
    ran = [int(n) for n in re.findall(r"Ran (\d+) tests? in", text)]
    skipped = [int(n) for n in re.findall(r"skipped=(\d+)", text)]
    bad = [int(f or 0) + int(e or 0)
           for f, e in re.findall(r"FAILED \((?:failures=(\d+))?(?:, )?(?:errors=(\d+))?", text)]
    return {"ran": max(ran, default=0), "skipped": max(skipped, default=0), "failed": max(bad, default=0),
            "ranks_done": len(ran), "ranks": ranks}


def run_module(options, plan, module, ranks):
    suite = options.venv / "src" / "mpi4py" / "test"
    # It would import all of setuptools in every rank to look for a build in its own folder, of which there is none.
    python = options.python or options.venv / "bin" / "python"
    command = [*options.launcher, "-n", str(ranks), str(python),
               "-X", "faulthandler", "-c", START, str(suite / "main.py"), "--no-builddir", "-v", module]
    for name in plan.omit.get(module, {}):
        command += ["-x", name]
    environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1", PYTHONUNBUFFERED="1")
    begin = time.monotonic()
    late = False
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                          cwd=suite, env=environment) as process:
        try:
            text, _ = process.communicate(timeout=options.limit)
        except subprocess.TimeoutExpired:
            late = True
            process.terminate()  # mpiexec ends its ranks
            text, _ = process.communicate()
        finally:
            if process.poll() is None:
                process.terminate()
    text = text.decode(errors="replace")
    result = outcome(text, ranks)
    if process.returncode == 77 and result["ran"] == 0:  # the launcher cannot work on this machine
        print(text)
        sys.exit(77)
    result.update(module=module, seconds=time.monotonic() - begin, status=process.returncode)
    if late:
        result["verdict"] = f"no end after {options.limit} s"
    elif process.returncode != 0:
        result["verdict"] = f"status {process.returncode}"
    elif result["failed"] or result["ranks_done"] != ranks:
        result["verdict"] = f"{result['ranks_done']} of {ranks} ranks finished"
    elif result["ran"] == result["skipped"]:
        result["verdict"] = "every test was skipped"
    else:
        result["verdict"] = "pass"
    if result["verdict"] != "pass":
        print(text)
        print(f"to repeat: {shlex.join(command)}")
    if options.results:
        options.results.mkdir(parents=True, exist_ok=True)
        (options.results / f"{module}.n{ranks}.json").write_text(json.dumps(result))
    return result


def show_table(results, plan):
    """One row per module: tests that passed, and of them those the suite itself skips there, by number of ranks."""
    columns = sorted({r["ranks"] for r in results})
    cells = {(r["module"], r["ranks"]): r for r in results}
    print("\nmpi4py's own tests on Weft: passed, +skipped by the suite, by number of ranks")
    print(f"{'module':24s}" + "".join(f"{f'{n} ranks':>16s}" for n in columns))
    for module in sorted({r["module"] for r in results}):
        row = f"{module:24s}"
        for ranks in columns:
            cell = cells.get((module, ranks))
            if cell is None:
                text = "-"
            elif cell["verdict"] == "pass":
                text = f"{cell['ran'] - cell['skipped']} +{cell['skipped']}"
            else:
                text = "FAIL"
            row += f"{text:>16s}"
        print(row)
    for module in sorted(plan.later):
        print(f"{module:24s}  later: {plan.later[module]}")
    for module in plan.run:
        if module in plan.limited:
            print(f"  {module} {plan.limited[module][1]}")
        for name, reason in plan.omit.get(module, {}).items():
            print(f"  without {name}: {reason}")
    passed = sum(r["verdict"] == "pass" for r in results)
    print(f"mpi4py: {passed} of {len(results)} runs passed; {len(plan.run)} modules run, {len(plan.later)} come later")
    for r in results:
        if r["verdict"] != "pass":
            print(f"  FAIL {r['module']} at {r['ranks']} ranks: {r['verdict']} ({r['failed']} failed of {r['ran']})")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prefix", type=pathlib.Path, help="where Weft is installed")
    parser.add_argument("--launcher", type=shlex.split, metavar="COMMAND",
                        help="in place of the prefix' mpiexec; '-n RANKS program' follows")
    parser.add_argument("--venv", type=pathlib.Path, help="the virtual environment of tools/dev/mpi4py.sh")
    parser.add_argument("--python", type=lambda text: pathlib.Path(text).absolute(), metavar="FILE", help="in place of the environment's")
    parser.add_argument("--omit", action="append", default=[], metavar="MODULE.CLASS.TEST: REASON", help="besides those of modules.txt")
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2, 3, 4, 5, 8])
    parser.add_argument("--limit", type=float, default=240, help="seconds for one module at one number of ranks")
    parser.add_argument("--results", type=pathlib.Path, help="a folder for one JSON file per run")
    parser.add_argument("--all", action="store_true", help="the modules that come later, too")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("modules", nargs="*")
    options = parser.parse_args()
    # A signal that ends this script ends its children too: see the finally above.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    plan = Plan(HERE / "modules.txt")
    for name, _, reason in (text.partition(": ") for text in options.omit):
        plan.omit.setdefault(name.split(".")[0], {})[name] = reason

    if options.list:
        print(";".join(f"{module} {plan.limited.get(module, (1,))[0]}" for module in plan.run))
        return 0
    if options.table:
        results = [json.loads(p.read_text()) for p in sorted(options.results.glob("*.json"))]
        show_table(results, plan)
        return 0
    options.venv = options.venv.absolute()
    if not options.modules or options.check:
        problems = plan.check(options.venv / "src" / "mpi4py" / "test")
        for problem in problems:
            print(problem, file=sys.stderr)
        if problems or options.check:
            return 1 if problems else 0
    if options.launcher is None:
        options.launcher = [str(options.prefix.absolute() / "bin" / "mpiexec")]
    options.launcher[0] = str(pathlib.Path(options.launcher[0]).absolute())  # runs in the suite's folder
    modules = options.modules or plan.run + (sorted(plan.later) if options.all else [])
    results = [run_module(options, plan, module, ranks) for module in modules for ranks in options.ranks
               if ranks >= plan.limited.get(module, (1,))[0]]
    show_table(results, plan if not options.modules else Plan(pathlib.Path(os.devnull)))
    return 0 if all(r["verdict"] == "pass" for r in results) else 1


if __name__ == "__main__":
    sys.exit(main())
