#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the rows of tests/mpi, tests/shmem and apps/kernels, those of two ranks and more, on several hosts (mpiexec.py), but for those
with the label one_host, which it names. Ends with a summary like ctest's; exit status 77 where there are no namespaces or no Hydra."""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import time

import mpiexec

HERE = pathlib.Path(__file__).resolve().parent


def property_of(test, name, otherwise=None):
    return next((p["value"] for p in test.get("properties", []) if p["name"] == name), otherwise)


def rows(build, pattern, leave_out):
    listing = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], capture_output=True, text=True,
                             check=True).stdout
    for test in json.loads(listing)["tests"]:
        name, command = test["name"], test.get("command", [])
        if not name.startswith(("mpi/", "shmem/", "device/", "apps.")) or "-n" not in command or not re.search(pattern, name):
            continue
        if leave_out and re.search(leave_out, name):
            continue
        at = command.index("-n")
        ranks = int(command[at + 1])
        if ranks > 1:
            yield name, ranks, command[at + 2:], property_of(test, "ENVIRONMENT", []), \
                float(property_of(test, "TIMEOUT", 30)), property_of(test, "PASS_REGULAR_EXPRESSION", []), \
                property_of(test, "LABELS", [])


def run(args, ranks, program, environment, timeout):
    command = mpiexec.command(args.hydra, args.hosts, ranks, [*environment, *args.env])
    start = time.monotonic()
    try:
        done = subprocess.run([*command, *program], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", timeout=timeout)
        return done.returncode, done.stdout, time.monotonic() - start
    except subprocess.TimeoutExpired as late:
        return None, (late.stdout or b"").decode(errors="replace"), time.monotonic() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=os.path.abspath, default=str(HERE.parents[1] / "build" / "release"))
    parser.add_argument("--hydra", required=True, help="Hydra's mpiexec")
    parser.add_argument("--hosts", type=int, default=2)
    parser.add_argument("-R", dest="pattern", default=".", help="rows whose names match")
    parser.add_argument("-E", dest="leave_out", default="", help="but not these")
    parser.add_argument("--env", action="append", default=[], metavar="A=1", help="for all ranks")
    parser.add_argument("--timeout", type=float, help="seconds for a row, instead of its own")
    args = parser.parse_args()
    if not os.access(args.hydra, os.X_OK):
        print(f"across.py: skipped: there is no Hydra at {args.hydra}")
        return 77
    failed, passed, skipped, left_out = [], 0, 0, 0
    for name, ranks, program, environment, timeout, wanted, labels in rows(args.build, args.pattern, args.leave_out):
        if "timing" in labels:  # judged alone, on one host
            continue
        if "one_host" in labels:
            print(f"one host           {name}", flush=True)
            left_out += 1
            continue
        status, output, seconds = run(args, ranks, program, environment, args.timeout or timeout)
        if status == 77 and "hosts.sh: skipped" in output:
            print(output)
            return 77
        good = any(re.search(w, output) for w in wanted) if wanted else status == 0
        verdict = "passed" if good else "skipped" if status == 77 else "FAILED" if status is not None else "TIMEOUT"
        print(f"{verdict:8} {seconds:6.2f} s  {name}", flush=True)
        if verdict == "skipped":
            skipped += 1
        elif good:
            passed += 1
        else:
            failed.append(name)
            print(output[-20000:])  # a report of a sanitizer has 10000 characters and more
    print(f"{passed} passed, {len(failed)} failed, {skipped} skipped on {args.hosts} hosts; "
          f"{left_out} about one host did not run")
    for name in failed:
        print(f"  FAILED {name}")
    return 1 if failed or passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
