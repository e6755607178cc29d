#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Jobs on three hosts (hosts.sh), one after the other, each under one fault of FAULTS. The programs check what they receive; each
fault has outcomes that are allowed, and no job may crash, hang, leave something or complain for nothing.

    faults.py --hydra PATH [--build FOLDER] [--seconds 20 | --jobs N] [--seed N] [--libraries tcp,ofi,ucx]
              [--faults NAME,...] [--programs NAME,...] [--damage] [--env A=1] [--soon SECONDS]

--damage: cables that change bits alone (the fault 'damage'), otherwise all others. --env: settings of all ranks. --soon: how soon
all must be over after a kill; Hydra ends the other ranks, and the time is its own too. A rank that is killed before all others
are there leaves Hydra waiting for ever, with any MPI: these moments are left out.

Of a job that fails, what each rank has written is shown and kept (BUILD/faults), with where a crash or a hang was when there
is gdb. Ends with a table of outcomes; status 1 after a failure, 77 where there are no namespaces or no Hydra."""
import argparse
import collections
import contextlib
import os
import pathlib
import random
import signal
import sys
import time

import cable
import evidence
import job

HERE = pathlib.Path(__file__).resolve().parent
LOST_AFTER = 30  # no cut that is healed lasts that long
LOST_SOON = 3    # of a host that is cut off for good
LONGEST = 120   # seconds for a job: a twentieth of the packets lost makes one slow
MOST = 4  # faults of cables and stops in a job
FOR_EVER = "1000"  # seconds of work of a job that a fault is to end
OUTCOMES = {
    "right": "the results are right, and nothing is said",
    "warned": "the results are right, and warnings tell what was turned away",
    "changed": "the message names changed data and has ended the job",
    "undelivered": "the message that one cannot be delivered has ended the job",
    "lost": "the message names a lost host and has ended the job",
    "ended": "the job has ended, not well, after a kill",
    "late": "a host is said to be lost, and was: this machine was too busy to heal a cut in time",
    "FAILED": "anything else",
}
SAID = {"changed": "data were changed on their way from rank", "lost": "is lost", "undelivered": "cannot be delivered"}
# Warnings of a job under damage that may go on.
WARNINGS = ("does not prove to be", "not from a rank of this job", "is for no rank of this host", "lifeline", "connection", "keeper")
# Parts of what one library carries, and the settings that make such; data bring a check in all jobs under damage.
READS_OF_TCP = dict.fromkeys(("ask", "answer", "answered"), ["WEFT_CHECK_DATA=on", "WEFT_RDMA_FROM=1000"])
READS_OF_UCX = dict.fromkeys(("ucx_ask", "ucx_answer"), ["WEFT_RDMA=on", "WEFT_RDMA_FROM=1000"])
SETTINGS_FOR = {**READS_OF_TCP, **READS_OF_UCX, "prefix": ["WEFT_CHECK_DATA=on", "WEFT_MINIMUM_MEMORY=host"]}
OF_TCP = (*READS_OF_TCP, "pushed", "invitation", "datagram", "greeting", *cable.GREETINGS)
PARTS_OF = {**dict.fromkeys(OF_TCP, "tcp"), **dict.fromkeys(READS_OF_UCX, "ucx"), "prefix": "ofi"}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hydra", required=True)
    parser.add_argument("--build", type=os.path.abspath, default=str(HERE.parents[1] / "build" / "release"))
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--jobs", type=int, help="instead of seconds")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--damage", action="store_true", help="change bits")
    parser.add_argument("--libraries", default="tcp,ofi,ucx", help="values of WEFT_NETWORK_LIBRARY")
    parser.add_argument("--faults", help="names, of all unless given")
    parser.add_argument("--programs", help="names, of all unless given")
    parser.add_argument("--env", action="append", default=[], metavar="A=1", help="for all ranks")
    parser.add_argument("--soon", type=float, default=LONGEST, help="seconds from a kill to the end")
    return parser.parse_args()


def work(kind):
    """A program of work.c, which goes on until its time is over."""
    def words(build, dice, for_ever, folder):
        del dice
        return (f"{build}/tests/hosts/hosts_work", kind, FOR_EVER if for_ever else "2", folder)
    return words


def test(name, *choices):
    """A program of tests/mpi, which ends by itself. `choices`: its arguments, None for a seed."""
    def words(build, dice, for_ever, folder):
        del for_ever, folder
        return (f"{build}/tests/mpi/mpi_{name}", *(dice.choice(one) or str(dice.randrange(1, 10**6)) for one in choices))
    return words


# By name: its words, its numbers of ranks, and whether it goes on for as long as it is told.
PROGRAMS = {
    **{name: (work(name), (3, 4, 6), True) for name in ("pingpong", "alltoall", "locks", "files", "spawn", "shmem")},
    "victim": (test("kill_victim"), (3, 4, 6), True),
    "p2p": (test("p2p_random", (None,)), (3, 5, 6), False),
    "coll": (test("coll_random", (None,), ("30",), ("1",)), (3, 5, 6), False),
    "win": (test("win_random", (None,), ("50",)), (2, 3, 5), False),
    "flood": (test("flood", ("small", "large", "reverse", "blocking"), ("0",), ("30000",)), (2,), False),
}


class Run:
    """One job and its fault."""

    def __init__(self, dice, args, fault, library, name):
        self.dice, self.args, self.fault, self.carrier = dice, args, FAULTS[fault], library
        self.part = None
        self.settings = [f"WEFT_NETWORK_LIBRARY={library}", f"WEFT_LOST_AFTER={self.fault.lost_after}", *args.env]
        if fault == "damage":
            self.choose_part()
        if name == "spawn" and "WEFT_MINIMUM_MEMORY=host" in self.settings:
            name = "pingpong"  # such a job cannot spawn
        words, ranks, _ = PROGRAMS[name]
        self.ranks = dice.choice(ranks)
        self.hosts = -(-self.ranks // -(-self.ranks // 3))  # that have ranks, by job.Job
        self.kept = evidence.Evidence(pathlib.Path(args.build) / "faults", "")
        self.program = words(args.build, dice, self.fault.ends, str(self.kept.folder))
        self.kept.program = self.program
        self.name = ", ".join([fault, f"{name} {' '.join(self.program[1:3])}", f"{self.ranks} ranks", *self.settings])
        self.history, self.begin, self.longest, self.killed, self.running = [], time.monotonic(), 0, None, None
        self.bad = None  # the host with a bad cable

    def choose_part(self):
        self.part = self.dice.choice([part for part in cable.PARTS if self.carrier in PARTS_OF.get(part, self.carrier)])
        self.settings += SETTINGS_FOR.get(self.part, [self.dice.choice(("WEFT_CHECK_DATA=on", "WEFT_ENCRYPT=on"))])

    def pids(self):
        return job.processes(os.path.realpath(self.program[0]))

    def host(self):
        return f"h{self.dice.randrange(1, self.hosts + 1)}"

    def note(self, text):
        self.history.append(f"{time.monotonic() - self.begin:.1f} s: {text}")

    def spoil(self, *words):
        """One cable at a time is a bad one: nothing is changed twice."""
        self.heal()
        self.bad = words[1]
        self.note(" ".join(words))
        job.on_hosts(*words)

    def heal(self):
        if self.bad is not None:
            job.on_hosts("heal", self.bad)
        self.bad = None

    def is_ready(self):
        text = self.kept.output()
        return sum(line.startswith(("ready ", "pid ")) for line in text.splitlines()) >= self.ranks

    def wait_for(self, condition):
        """The status of a job that ends before the condition holds."""
        status = None
        while status is None and not condition() and time.monotonic() - self.begin < LONGEST:
            status = self.running.wait(0.02)
        return status

    def play(self):
        """The status, None when it hangs."""
        self.fault.before(self)
        # Faults are the job's to bear and not its launcher's, which has its connections once all ranks are there.
        self.running = job.Job(self.args.hydra, self.ranks, self.program, *self.settings, hosts=self.hosts, wrapper=self.kept.wrapper())
        status = self.wait_for(lambda: len(self.pids()) >= self.ranks)
        if status is None and self.fault.when_ready(self.dice):
            status = self.wait_for(self.is_ready)
        return self.fault.play(self) if status is None else status

    def kill(self, *pids):
        """The status of the job, which that has to end."""
        self.killed = time.monotonic()
        self.note(f"kill {pids}")
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return self.running.wait(LONGEST)

    def outcome(self, status):
        """A key of OUTCOMES, and what is wrong."""
        said = "\n".join([self.running.output, self.kept.output()])
        about = [line for line in said.splitlines() if evidence.complains(line)]
        if status is None:
            return "FAILED", "it hangs"
        if self.kept.cores() or "terminated with signal" in said:  # of a library that handles signals
            return "FAILED", "it crashed"
        if self.running.left():
            return "FAILED", "processes are left"
        if self.killed is not None and time.monotonic() - self.killed > self.args.soon:
            return "FAILED", f"it was over after {time.monotonic() - self.killed:.1f} s"
        files = [file for host in job.all_hosts() for file in job.on_hosts("on", host, "ls", "-A", "/dev/shm").split()]
        if files:
            return "FAILED", f"files are left in /dev/shm: {files}"
        if status == 0:
            strange = [line for line in about if not any(text in line for text in WARNINGS)]
            outcome = "FAILED" if strange else "warned" if about else "right"
        else:
            outcome = next((key for key, text in SAID.items() if text in said), "ended")
        if outcome == "lost" and self.longest > self.fault.lost_after / 2:
            return "late", ""
        if outcome not in (*self.fault.allowed, *(self.fault.of_ucx if self.carrier == "ucx" else ())):
            return "FAILED", f"status {status}, {outcome}" if status else "it complains"
        return outcome, ""

    def end(self):
        """The outcome, and all that is known of a failure."""
        shown = ""
        try:
            outcome, wrong = self.outcome(self.play())
            if wrong:
                shown = evidence.backtraces(self.pids())
        finally:
            self.heal()
            if self.running is not None:
                self.running.end()
        print(f"{outcome:12}{time.monotonic() - self.begin:6.1f} s {len(self.history):3} faults  {self.name}", flush=True)
        if outcome != "FAILED":
            self.kept.forget()
            return outcome
        print("\n".join([f"{self.name}: {wrong}", *self.history, self.running.output, shown, self.kept.shown()]), flush=True)
        return outcome


# ---- What faults do, from when all ranks are there

def cables(choose):
    """One bad cable after the other, for a while each, until the job is over. choose(run) gives words of hosts.sh and seconds."""
    def play(run):
        for _ in range(MOST):
            words, seconds = choose(run)
            status = run.running.wait(run.dice.uniform(0, 0.5))
            if status is not None:
                return status
            since = time.monotonic()
            run.spoil(words[0], run.host(), *words[1:])
            if words[0] == "cut":
                time.sleep(seconds)
            else:
                status = run.running.wait(seconds)
            run.heal()
            if words[0] == "cut":
                run.longest = max(run.longest, time.monotonic() - since)
        return run.running.wait(LONGEST)
    return play


def spoiled(**choices):
    def choose(run):
        return ("spoil", *(f"{name}={run.dice.choice(values)}" for name, values in choices.items())), run.dice.uniform(0.3, 2)
    return choose


def short_cut(run):
    return ("cut",), run.dice.choice((0.05, 0.3, 1, 3))


def all_at_once(run):
    return spoiled(delay=(0, 0.2, 1, 5), jitter=(0, 0.5, 3), drop=(0, 0.5, 2, 5), double=(0, 1, 10), reorder=(0, 1, 10))(run)


def changes(run):
    words = (f"flip={run.dice.choice((1, 20, 100))}", f"part={run.part}", f"way={run.dice.choice(('', 'in', 'out'))}")
    return ("spoil", *words, f"seed={run.dice.randrange(10**6)}"), run.dice.uniform(0.3, 2)


def changed_from_the_start(run):
    if run.part in OF_TCP or run.part.startswith("line") or run.dice.random() < 0.5:
        words, _ = changes(run)
        run.spoil(words[0], run.host(), *words[1:])


def nothing_before(run):
    del run


def cut_off(run):
    run.spoil("cut", run.host())
    return run.running.wait(LONGEST)


def pause(run):
    time.sleep(run.dice.random() * run.dice.choice((0.002, 0.05, 0.3)))


def kill_rank(run):
    pause(run)
    return run.kill(run.dice.choice(sorted(run.pids())[:run.ranks]))  # no spawned process, which may have ended


def network_of(pid):
    with contextlib.suppress(OSError):
        return os.readlink(f"/proc/{pid}/ns/net")
    return None


def kill_host(run):
    """All processes of a host; on the first one that is the launcher too."""
    pause(run)
    host = run.host()
    there = job.on_hosts("on", host, "readlink", "/proc/self/ns/net").strip()
    return run.kill(*(pid for pid in [*run.pids(), *job.processes("hydra_pmi_proxy"), run.running.process.pid]
                      if network_of(pid) == there))


def kill_launcher(run):
    pause(run)
    return run.kill(run.running.process.pid)


def stop(run):
    """Ranks stand still for a while."""
    for _ in range(MOST):
        status = run.running.wait(run.dice.uniform(0, 0.5))
        if status is not None:
            return status
        pids = run.pids()
        victims = run.dice.sample(pids, min(len(pids), run.dice.choice((1, 1, 2, 6))))
        run.note(f"stop {victims}")
        for number in (signal.SIGSTOP, signal.SIGCONT):
            for pid in victims:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, number)
            if number == signal.SIGSTOP:
                time.sleep(run.dice.choice((0.05, 0.5, 1.5)))
    return run.running.wait(LONGEST)


class Fault:
    def __init__(self, play, *allowed, ends=False, before=nothing_before, lost_after=LOST_AFTER, ready=0.0, of_ucx=()):
        """`ends`: it ends the job. `ready`: the share of jobs in which it waits until all ranks have said that they are ready.
        `of_ucx`: outcomes that are allowed with UCX, too (docs/guide/hosts.md, "Limits")."""
        self.play, self.allowed, self.ends, self.before, self.lost_after, self.ready = play, allowed, ends, before, lost_after, ready
        self.of_ucx = of_ucx

    def when_ready(self, dice):
        return dice.random() < self.ready


FAULTS = {
    "delay": Fault(cables(spoiled(delay=(0.2, 1, 5), jitter=(0, 0.5, 3))), "right"),
    "loss": Fault(cables(spoiled(drop=(0.5, 2, 5))), "right"),
    "double": Fault(cables(spoiled(double=(1, 10, 100))), "right"),
    "reorder": Fault(cables(spoiled(delay=(0.2, 1), jitter=(0, 0.5), reorder=(1, 10, 50))), "right"),
    "mixture": Fault(cables(all_at_once), "right"),
    "cut": Fault(cables(short_cut), "right", of_ucx=("undelivered",)),
    "stop": Fault(stop, "right"),
    "cut_off": Fault(cut_off, "lost", ends=True, lost_after=LOST_SOON, ready=1.0),
    "kill_rank": Fault(kill_rank, "ended", ends=True, ready=0.7),
    "kill_host": Fault(kill_host, "ended", ends=True, ready=1.0),
    "kill_launcher": Fault(kill_launcher, "ended", ends=True, ready=1.0),
    "damage": Fault(cables(changes), "right", "warned", "changed", "undelivered", before=changed_from_the_start),
}


def cases(dice, args):
    """Without end: each fault with each carrier, in turn at random, with a program at random."""
    names = args.faults.split(",") if args.faults else ["damage"] if args.damage else [name for name in FAULTS if name != "damage"]
    programs = args.programs.split(",") if args.programs else list(PROGRAMS)
    round_of = []
    while True:
        if not round_of:
            round_of = [(fault, library) for fault in names for library in args.libraries.split(",")]
            dice.shuffle(round_of)
        fault, library = round_of.pop()
        yield fault, library, dice.choice([name for name in programs if (PROGRAMS[name][2] if FAULTS[fault].ends else name != "victim")])


def table(counts):
    """Markdown: fault x outcome."""
    there = [outcome for outcome in OUTCOMES if any(outcome in row for row in counts.values())]
    lines = ["| fault | " + " | ".join(there) + " |", "|---" * (len(there) + 1) + "|"]
    for fault, row in counts.items():
        lines.append(f"| {fault} | " + " | ".join(str(row[outcome] or "") for outcome in there) + " |")
    return "\n".join(lines)


def main():
    args = arguments()
    if not os.access(args.hydra, os.X_OK):
        print(f"faults.py: skipped: there is no Hydra at {args.hydra}")
        return 77
    job.enter(3)
    dice, end, counts, done = random.Random(args.seed), time.monotonic() + args.seconds, {}, 0
    for fault, library, name in cases(dice, args):
        if done >= args.jobs if args.jobs else time.monotonic() >= end:
            break
        run = Run(dice, args, fault, library, name)
        counts.setdefault(run.part or fault, collections.Counter())[run.end()] += 1
        done += 1
    failed = sum(row["FAILED"] for row in counts.values())
    print(table(dict(sorted(counts.items()))))
    print(f"{done} jobs, {failed} failed (seed {args.seed})")
    return 1 if failed or not done else 0


if __name__ == "__main__":
    sys.exit(main())
