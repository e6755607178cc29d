#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Hosts that are cut off and ranks that are killed, on three hosts (hosts.sh): who is named, how soon all ends, what is left;
and bad cables, by which nothing is lost. HYDRA is Hydra's mpiexec, LOST the program of lost.c, MHD that of
apps/mhd, MPI_TESTS the folder of the programs of tests/mpi."""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import evidence
import job

sys.path.append(str(job.HERE.parent / "launch"))
import timing  # noqa: E402

HYDRA = os.environ["HYDRA"]
LOST = os.environ["LOST"]
LOST_AFTER = 3
HANGS = timing.HANGS


class Hosts(unittest.TestCase):
    def start(self, *program, ranks=6, lost_after=LOST_AFTER, settings=(), **more):
        running = job.Job(HYDRA, ranks, program, f"WEFT_LOST_AFTER={lost_after}", *settings, **more)
        self.addCleanup(self.clean, running)
        return running

    def clean(self, running):
        for host in job.all_hosts():
            job.on_hosts("heal", host)
        running.end()

    def check_end(self, running, seconds):
        """The job ends, not well, and leaves nothing; within so many seconds where times are judged. None would end by itself."""
        took = timing.Took()
        status = running.wait(HANGS)
        self.assertIsNotNone(status, f"still there after {HANGS} s:\n{running.output}")
        took.at_most(self.assertLess, "seconds until all is over", seconds)
        self.assertNotEqual(status, 0, running.output)
        self.assertEqual(running.left(), [], "processes are left")
        for host in job.all_hosts():
            self.assertEqual(job.on_hosts("on", host, "ls", "-A", "/dev/shm"), "", f"left on {host}")

    def said(self, running):
        return [line for line in running.lines if "weft:" in line]


class Lost(Hosts):
    def cut(self, host, *names, what=("wait",), library="tcp"):
        running = self.start(LOST, *what, settings=(f"WEFT_NETWORK_LIBRARY={library}",))
        running.wait_until_ready()
        job.on_hosts("cut", host)
        self.check_end(running, LOST_AFTER + 2)
        said = self.said(running)
        self.assertEqual(len(said), 1, running.output)
        for name in names:
            self.assertIn(name, said[0])
        self.assertIn(f"nothing was heard from it for {LOST_AFTER} s", said[0])

    def test_a_host_that_is_cut_off_is_named(self):
        self.cut("h3", "host h3 (ranks 4 and 5) is lost", "on host h1 (ranks 0 and 1)")

    def test_a_host_that_is_cut_off_amid_traffic(self):
        for library in "tcp", "ucx":
            self.cut("h2", "host h2 (ranks 2 and 3) is lost", what=("ring", "60"), library=library)
            job.on_hosts("heal", "h2")

    def test_the_launchers_own_host_is_cut_off(self):
        self.cut("h1", "is lost", "on host h1 (ranks 0 and 1)", library="ofi")

    def test_others_notice_while_the_first_ranks_compute(self):
        self.cut("h3", "host h3 (ranks 4 and 5) is lost", "noticed by rank 1 on host h1", what=("busy", "30"))

    def test_a_host_is_cut_off_while_the_others_are_in_finalize(self):
        self.cut("h3", "host h3 (ranks 4 and 5) is lost", "on host h1 (ranks 0 and 1)", what=("leave", "4"))

    def killed(self, victim, *program):
        running = self.start(LOST, *program)
        running.wait_until_ready()
        os.kill(running.pids[victim], signal.SIGKILL)
        self.check_end(running, 3)
        # MPICH's Hydra kills the other ranks of that host within a millisecond, names one of them, and gives the signal
        # as the exit code.
        self.assertRegex(running.output, rf"PID \d+ RUNNING AT h{victim // 2 + 1}\b")
        self.assertIn("EXIT CODE: 9", running.output)
        self.assertEqual(self.said(running), [], "a consequence is told as the cause")

    def test_the_host_of_a_killed_rank_is_named_and_no_consequence(self):
        self.killed(3, "wait")
        self.killed(4, "wait")  # it holds its host's lifelines

    def test_a_rank_is_killed_while_all_others_compute(self):
        self.killed(5, "compute", "20")

    def test_a_program_that_closes_the_sockets_is_told_so(self):
        running = self.start(os.path.join(os.environ["MPI_TESTS"], "mpi_close_all"), "hosts", ranks=3)
        self.check_end(running, 5)
        self.assertRegex(running.output, r"the program has closed descriptor \d+, which Weft opened for messages between hosts")


class Application(Hosts):
    def test_the_last_checkpoint_of_a_run_that_loses_a_host_is_intact(self):
        mhd = os.environ["MHD"]
        problem = ("-q", "-t", "1", "-e", "1000")  # it would run for an hour
        with tempfile.TemporaryDirectory(dir=os.path.dirname(mhd)) as folder:
            last = pathlib.Path(folder, "last")
            start = ("-p", "alfven", "-n", "16", "-b", "4")
            running = self.start(mhd, *problem, *start, "-k", last, "-i", "5", ranks=3)
            running.wait_until(last.exists)
            job.on_hosts("cut", "h3")
            self.check_end(running, LOST_AFTER + 2)
            said = self.said(running)
            self.assertEqual(len(said), 1, running.output)
            self.assertIn("host h3 (rank 2) is lost", said[0])

            def state(steps, *more):
                done = subprocess.run([mhd, *problem, "-s", str(steps), *more], capture_output=True, text=True, timeout=HANGS,
                                      check=False)
                self.assertEqual(done.returncode, 0, done.stderr)
                return re.search(r"end: step (\d+),.*state: (\w+)", done.stdout, re.DOTALL).groups()

            kept = int(state(1, "-r", last)[0])
            self.assertGreaterEqual(kept, 5)
            self.assertEqual(kept % 5, 0)
            self.assertEqual(state(kept + 3, "-r", last), state(kept + 3, *start), "the restart does not go on as one run does")


class Cables(Hosts):
    """Contents are checked by the programs."""

    def program(self, name):
        path = os.path.join(os.environ["MPI_TESTS"], f"mpi_{name}")
        if not os.access(path, os.X_OK):
            self.skipTest(f"{path} is not built")
        return path

    def check_good(self, running):
        status = running.wait(HANGS)
        self.assertEqual(status, 0, f"None: still there after {HANGS} s\n{running.output}")
        self.assertEqual(self.said(running), [])
        self.assertEqual(running.left(), [], "processes are left")

    def cut_for_three_seconds(self, host, *program, ranks=6):
        running = self.start(*program, lost_after=30, ranks=ranks)
        # Before, the launcher has not all of its connections.
        running.wait_until(lambda: len(job.processes(os.path.realpath(program[0]))) == ranks)
        job.on_hosts("cut", host)
        time.sleep(3)
        self.assertIsNone(running.process.poll(), running.output)
        job.on_hosts("heal", host)
        return running

    def test_short_cuts_do_not_add_up_to_a_loss(self):
        # They fall on a third and on two thirds of WEFT_LOST_AFTER, when little is heard of a host that computes.
        running = self.start(LOST, "compute", "7", lost_after=6)
        running.wait_until_ready()
        begin = time.monotonic()
        for middle in 2, 4:
            time.sleep(max(0, begin + middle - 0.6 - time.monotonic()))
            job.on_hosts("cut", "h3")
            time.sleep(1.2)
            job.on_hosts("heal", "h3")
        self.check_good(running)

    def test_a_ring_goes_on_after_a_cut(self):
        with tempfile.TemporaryDirectory(dir=os.path.dirname(LOST)) as folder:
            enough = pathlib.Path(folder, "enough")
            running = self.cut_for_three_seconds("h3", LOST, "ring", str(enough))
            enough.touch()
            self.check_good(running)

    def test_a_flood_goes_on_after_a_cut(self):
        job.on_hosts("spoil", "h2", "delay=2")  # so that it takes seconds
        self.check_good(self.cut_for_three_seconds("h2", self.program("flood"), "small", ranks=2))

    def test_random_messages_over_a_bad_cable(self):
        job.on_hosts("spoil", "h2", "delay=2", "jitter=2", "drop=2", "reorder=2")
        self.check_good(self.start(self.program("p2p_random"), "1", ranks=3, lost_after=30))


class Kept(Hosts):
    """What faults.py shows of a job that fails (evidence.py)."""

    def test_the_output_of_all_ranks_and_where_one_crashed(self):
        with tempfile.TemporaryDirectory(dir=os.path.dirname(LOST)) as folder:
            kept = evidence.Evidence(pathlib.Path(folder), (LOST,))
            running = self.start(LOST, "wait", wrapper=kept.wrapper())
            end = time.monotonic() + HANGS
            while kept.output().count("ready") < 6:
                self.assertLess(time.monotonic(), end, kept.shown())
                time.sleep(0.05)
            victim = int(kept.output(kept.ranks()[4]).split()[2])
            self.assertFalse(evidence.complains(kept.output()))
            hung = evidence.backtraces([victim])
            os.kill(victim, signal.SIGSEGV)
            self.check_end(running, 20)
            shown = kept.shown()
            for rank in range(6):
                self.assertRegex(shown, rf"---- rank {rank}: 1 lines\nready {rank} \d+")
            if shutil.which("gdb"):
                self.assertIn("wait_for_ever", hung)
                if not evidence.core_pattern().startswith("|"):
                    self.assertRegex(shown, r"---- core .*\n(.*\n)*.*wait_for_ever")
            kept.forget()
            self.assertEqual(os.listdir(folder), [])


if __name__ == "__main__":
    if not os.access(HYDRA, os.X_OK):
        print("OK (skipped=1): there is no Hydra: tools/dev/launchers.sh mpich installs it")
        sys.exit(0)
    job.enter(3)
    unittest.main()
