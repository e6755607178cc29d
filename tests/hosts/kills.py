#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Ranks on two hosts (hosts.sh) are killed at random moments, over and over: from their start on, amid messages, collective
operations and windows, and while others compute. Each time all must be over soon, with nothing left.

    kills.py --hydra PATH --victim PROGRAM [--jobs 20] [--seed N] [--seconds 3]

The victim says `pid N`. A rank that is killed before all others are there leaves Hydra waiting for ever, with any MPI: these
moments are left out. Ends with 77 where there are no namespaces. Hydra ends the other ranks; the time is its own too."""
import argparse
import os
import random
import signal
import sys
import time

import job

RANKS = 4
HANGS = 100  # seconds


def one(options, dice):
    """Nothing, or what went wrong; and how long the end took."""
    running = job.Job(options.hydra, RANKS, (options.victim,), f"WEFT_NETWORK_LIBRARY={dice.choice(options.libraries.split(','))}",
                      *options.env)
    try:
        early = dice.random() < 0.3
        program = os.path.realpath(options.victim)
        until = time.monotonic() + HANGS
        while time.monotonic() < until and running.process.poll() is None:
            pids = job.processes(program)
            if len(pids) == RANKS and (early or sum("pid " in line for line in running.lines) == RANKS):
                break
            time.sleep(0.002)
        else:
            return f"the job did not start:\n{running.output}", 0
        time.sleep(dice.random() * dice.choice([0.002, 0.05, 0.3]))
        begin = time.monotonic()
        os.kill(dice.choice(pids), signal.SIGKILL)
        status = running.wait(HANGS)
        there = [(name, len(job.processes(name))) for name in (program, "hydra_pmi_proxy", "mpiexec.hydra")]
        left = running.left()
        took = time.monotonic() - begin
        files = [name for k in (1, 2) for name in job.on_hosts("on", f"h{k}", "ls", "-A", "/dev/shm").split()]
        if status is None:
            return f"the launcher is still there after {HANGS} s, with {there}:\n{running.output}", took
        if status == 0:
            return "the launcher says that all went well", took
        if left or files:
            return f"left: processes {left}, files {files}", took
        return "", took
    finally:
        running.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hydra", required=True)
    parser.add_argument("--env", action="append", default=[], metavar="A=1", help="for all ranks")
    parser.add_argument("--victim", type=os.path.abspath, required=True)
    parser.add_argument("--jobs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--seconds", type=float, default=3, help="until all must be over")
    parser.add_argument("--libraries", default="tcp,ofi", help="values of WEFT_NETWORK_LIBRARY, one at random for each job")
    options = parser.parse_args()
    if not os.access(options.hydra, os.X_OK):
        print(f"kills.py: skipped: there is no Hydra at {options.hydra}", file=sys.stderr)
        sys.exit(77)
    job.enter(2)
    dice = random.Random(options.seed)
    wrong, times = 0, []
    for number in range(options.jobs):
        problem, took = one(options, dice)
        times.append(took)
        if not problem and took > options.seconds:
            problem = f"over after {took:.2f} s"
        if problem:
            wrong += 1
            print(f"job {number}: {problem}")
    times.sort()
    print(f"{options.jobs} jobs on two hosts, {wrong} wrong; over after {times[len(times) // 2]:.2f} s in the middle, "
          f"{times[-1]:.2f} s at most; seed {options.seed}")
    sys.exit(wrong != 0)


if __name__ == "__main__":
    main()
