#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""kill -9 of a random rank at a random moment: the job is over soon (within a second where times count), says so, and nothing is left behind:
no process, no file in /dev/shm or the folder of temporary files. With --stop the rank is first stopped for a moment, so
that all others meet what it left half done. A victim that ends with 77 cannot run here: the test is skipped.

usage: kill.py [--stop] MPIEXEC VICTIM [runs] [seed]
"""
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

# The measure in rows with the label `timing`: in others 10 s, after which they are said to be left.
LIMIT = 1.0  # seconds from the signal to the end of mpiexec and of every rank
STOP_LIMIT = 3.0  # the same with --stop, where many threads are at work
SKIPPED = 77


def files():
    """Whose names tell that they are of Weft. No file of a test may have such a name: rows run beside this one, and what
    one leaves would count here."""
    found = set()
    for folder in {"/dev/shm", "/tmp", tempfile.gettempdir()}:
        for path in pathlib.Path(folder).glob("*"):
            try:
                if path.owner() and "weft" in path.name.lower():
                    found.add(str(path))
            except (OSError, KeyError):
                pass
    return found


def alive(pid, start):
    """Whether the process that had this pid then is still there (zombies are not)."""
    return birth(pid) == start


def birth(pid):
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return None
    return None if fields[0] == "Z" else fields[19]


def children(pid):
    """Every process below pid."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            found += [int(entry.name)] + children(int(entry.name))
    return found


def one(mpiexec, victim, ranks, delay, chooser, stop):
    before = files()
    # A process group of its own, so that everything of the job can be told from what others do here.
    job = subprocess.Popen([mpiexec, "--oversubscribe", "-n", str(ranks), victim], stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, start_new_session=True)
    try:
        pids = []
        while len(pids) < ranks:  # all are in MPI when they say so
            line = job.stdout.readline().decode()
            if not line:
                if job.wait(timeout=10) == SKIPPED:
                    return SKIPPED
                return f"the job ended by itself: {job.stderr.read().decode()[:300]}"
            pids += [int(word) for word in line.replace("pid", " ").split() if word.isdigit()]
        time.sleep(delay)
        family = {pid: birth(pid) for pid in children(job.pid)}
        chosen = chooser.choice(pids)
        if chosen not in family:
            return f"rank's process {chosen} is not below mpiexec"
        if stop:
            for _ in range(chooser.randrange(4)):  # it goes on, and stops elsewhere
                os.kill(chosen, signal.SIGSTOP)
                time.sleep(chooser.random() * 0.02)
                os.kill(chosen, signal.SIGCONT)
                time.sleep(chooser.random() * 0.01)
            os.kill(chosen, signal.SIGSTOP)
            time.sleep(chooser.choice([0.001, 0.05, 0.2]) * chooser.random())
        sent = time.monotonic()
        os.kill(chosen, signal.SIGKILL)
        try:
            job.wait(timeout=10)
        except subprocess.TimeoutExpired:
            return "mpiexec is still there after 10 s"
        while any(alive(pid, start) for pid, start in family.items()) and time.monotonic() - sent < 10:
            time.sleep(0.005)
        took = time.monotonic() - sent
        said = job.stderr.read().decode()
        left = [pid for pid, start in family.items() if alive(pid, start)]
        if left:
            return f"processes left: {left}"
        limit = STOP_LIMIT if stop else LIMIT
        print(f"timing: seconds until a job with a killed rank is over: {took:.3f}, at most {limit:g}")
        if took > limit and os.environ.get("TEST_TIMING"):
            return f"the job was over after {took:.2f} s"
        if job.returncode == 0:
            return "mpiexec says that all went well"
        if f"pid {chosen}" not in said or "9" not in said:
            return f"mpiexec does not name the rank and the signal: {said[:300]!r}"
        remaining = files() - before
        until = time.monotonic() + 10
        while remaining and time.monotonic() < until:  # of another job of this library, beside this one
            time.sleep(0.05)
            remaining &= files()
        if remaining:
            return f"files left: {sorted(remaining)}"
        return None
    finally:
        if job.poll() is None:
            os.killpg(job.pid, signal.SIGKILL)
        job.stdout.close()
        job.stderr.close()
        job.wait()


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--stop"]
    stop = len(arguments) < len(sys.argv) - 1
    mpiexec, victim = arguments[:2]
    runs = int(arguments[2]) if len(arguments) > 2 else 100
    seed = int(arguments[3]) if len(arguments) > 3 else random.randrange(1 << 30)
    chooser = random.Random(seed)
    failures = 0
    for run in range(runs):
        ranks = chooser.choice([1, 2, 3, 4, 8])
        delay = chooser.choice([0, 0.001, 0.01, 0.1]) * chooser.random()
        wrong = one(mpiexec, victim, ranks, delay, chooser, stop)
        if wrong == SKIPPED:
            print("skipped: the victim cannot run here")
            return SKIPPED
        if wrong:
            failures += 1
            print(f"seed {seed}, run {run}, {ranks} ranks, {delay * 1000:.1f} ms: {wrong}")
    print(f"{runs} runs, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
