#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""kill -9 of a random process at a random moment of MPI_Comm_spawn, accept and connect, in jobs of mpiexec and in processes
that were started without a launcher: a rank, a child, or a process of the launcher. A child that its parents have left ends
alone; after any other all ends, and in either case after the first rank. Nothing is left: no process, no file. The bound is
wide: that it takes a second where nothing else runs is said, and judged where times count.

usage: kill_spawn.py MPIEXEC VICTIM [runs] [seed]
"""
import ctypes
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import kill  # noqa: E402

LIMIT = 1.0  # seconds from the last signal to the end of everything, where TEST_TIMING is set
PATIENCE = 60  # otherwise; processes that are still there then are said to be left
PR_SET_CHILD_SUBREAPER = 36


def become_subreaper():
    """Processes whose parents have ended become ours: so every process of a job stays below us."""
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        sys.exit("no subreaper: " + os.strerror(ctypes.get_errno()))


def reap():
    """Ended processes that became ours."""
    while True:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                return
        except ChildProcessError:
            return


def family():
    return {pid: kill.birth(pid) for pid in kill.children(os.getpid()) if kill.birth(pid) is not None}


def read(path):
    try:
        return pathlib.Path(path).read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return ""


def name(pid):
    return f"{pid} ({read(f'/proc/{pid}/cmdline')[-120:]})"


def shown(pids):
    """What each of them is, whose child, and where each of its threads waits."""
    lines = []
    for pid in pids:
        status = dict(line.split(":", 1) for line in read(f"/proc/{pid}/status").splitlines() if ":" in line)
        facts = [f"{key} {' '.join(status[key].split())}" for key in ("State", "PPid", "SigBlk", "ShdPnd", "SigPnd")
                 if key in status]
        lines.append(f"\n  {name(pid)}: {', '.join(facts)}")
        for thread in sorted(pathlib.Path(f"/proc/{pid}/task").glob("*")):
            stack = [line.split("+")[0].split()[-1] for line in read(thread / "stack").splitlines()]
            lines.append(f"\n    thread {thread.name} {read(thread / 'comm')}: in {read(thread / 'wchan')}, system call "
                         f"{read(thread / 'syscall')}{', stack ' if stack else ''}{' '.join(stack)}")
        links = []
        for entry in sorted(pathlib.Path(f"/proc/{pid}/fd").glob("*"), key=lambda each: int(each.name)):
            try:
                links.append(f"{entry.name} {os.readlink(entry)}")
            except OSError:
                pass
        lines.append(f"\n    descriptors {', '.join(links)[:2000]}")
    return "".join(lines)


def send_kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def one(words, ranks, delay, chooser):
    before = kill.files()
    read_end, write_end = os.pipe()
    job = subprocess.Popen(words, stdout=write_end, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    os.close(write_end)
    with os.fdopen(read_end) as output:
        first = []
        while len(first) < ranks:
            line = output.readline()
            if not line:
                return f"the job ended by itself with status {job.wait()}"
            first += [int(word) for word in line.replace("pid", " ").split() if word.isdigit()]
        time.sleep(delay)
        found = sorted(family())
        chosen = chooser.choice(found)
        killed = name(chosen)
        send_kill(chosen)
        if chosen not in first:
            time.sleep(chooser.choice([0, 0.01, 0.1]) * chooser.random())
            last = chooser.choice(first)
            killed += " and " + name(last)
            send_kill(last)
        sent = time.monotonic()
        looks = 0
        while True:
            job.poll()
            reap()
            left = family()
            # Some looks at least: the time may be over because all of this was stopped meanwhile.
            if not left or (looks >= 100 and time.monotonic() - sent >= PATIENCE):
                break
            looks += 1
            time.sleep(0.01)
        took = time.monotonic() - sent
        job.returncode = 0 if job.returncode is None else job.returncode  # reaped with the others
    if left:
        what = shown(left)
        for pid in left:
            send_kill(pid)
        reap()
        return f"left after {took:.0f} s of {len(found)} processes, {killed} killed: {what}"
    print(f"timing: seconds until a job that spawns is over after a kill: {took:.3f}, at most {LIMIT:g}")
    if took > LIMIT and os.environ.get("TEST_TIMING"):
        return f"all was over after {took:.2f} s"
    if remaining := kill.files() - before:
        until = time.monotonic() + 10  # other tests that run beside this one may have had some
        while remaining and time.monotonic() < until:
            time.sleep(0.05)
            remaining &= kill.files()
        if remaining:
            return f"files left: {sorted(remaining)}"
    return None


def main():
    mpiexec, victim = sys.argv[1:3]
    runs = int(sys.argv[3]) if len(sys.argv) > 3 else 100
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else random.randrange(1 << 30)
    chooser = random.Random(seed)
    become_subreaper()
    # LeakSanitizer looks from a process of its own; where that one is chosen, its rank waits for it without end.
    os.environ["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
    failures = 0
    for run in range(runs):
        ranks = chooser.choice([0, 0, 1, 2, 3])  # 0: a process without a launcher
        words = [mpiexec, "--oversubscribe", "-n", str(ranks), victim] if ranks else [victim]
        wrong = one(words, max(ranks, 1), chooser.choice([0.01, 0.1, 0.5]) * chooser.random(), chooser)
        if wrong:
            failures += 1
            print(f"seed {seed}, run {run}, {' '.join(words)}: {wrong}", flush=True)
    print(f"{runs} runs, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
