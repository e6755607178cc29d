#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""`weft why` and mpiexec on programs that stand still, and on programs that only take their time (wrong.c). LAUNCH_BIN is
the folder of the programs, WRONG the program."""
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import unittest

import timing

BIN = os.environ["LAUNCH_BIN"]
WRONG = os.environ["WRONG"]


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.enough = pathlib.Path(folder.name, "enough")  # ends the programs that are slow

    def start(self, way, ranks=2, *words, env=None):
        job = subprocess.Popen([os.path.join(BIN, "mpiexec"), "-q", "--oversubscribe", "--timeout", "600", "-n", str(ranks), *words, WRONG, way],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env=dict(os.environ, WRONG_UNTIL=str(self.enough), **(env or {})))
        self.addCleanup(self.end, job)
        return job

    def end(self, job):
        if job.poll() is None:
            job.send_signal(signal.SIGCONT)
            job.terminate()
        job.communicate(timeout=timing.HANGS)

    def why(self, job, *words):
        return subprocess.run([os.path.join(BIN, "weft"), "why", str(job.pid), *words], capture_output=True, text=True,
                              timeout=timing.HANGS, check=False)

    def pids(self, job):
        """Of the ranks, by rank."""
        return {r["rank"]: r["pid"] for r in json.loads(self.why(job, "--json").stdout)["ranks"]}

    def wait_for(self, job, *parts):
        """What `weft why` says, once its first three lines have these parts."""
        said = None
        until = time.monotonic() + timing.HANGS
        while time.monotonic() < until:
            said = self.why(job)
            head = "\n".join(said.stdout.splitlines()[:3])
            if all(re.search(part, head) for part in parts):
                return said
            if job.poll() is not None:
                break
            time.sleep(0.2)
        self.fail(f"{parts} are not among the first three lines:\n{said.stdout}{said.stderr}")
        return said


# By messages, where nobody compares calls: those in shared memory end with an error at once.
MESSAGES = {f"WEFT_{collective}_ALGORITHM": algorithm for collective, algorithm in {
    "BARRIER": "flat", "BCAST": "tree", "GATHER": "direct", "SCATTER": "direct", "ALLGATHER": "ring", "ALLTOALL": "pairwise",
    "REDUCE": "tree", "ALLREDUCE": "doubling", "REDUCE_SCATTER": "root", "SCAN": "doubling", "GATHERV": "direct",
    "SCATTERV": "direct", "ALLGATHERV": "ring", "ALLTOALLV": "pairwise"}.items()}


class Wrong(Case):
    """Each names cause and place among the first three lines, and the status says that it does not end."""

    def check(self, way, *parts, ranks=2, words=(), env=None):
        job = self.start(way, ranks, *words, env=env)
        said = self.wait_for(job, *parts)
        self.assertEqual(said.returncode, 1, said.stdout)
        return said.stdout

    def test_wrong_tag(self):
        said = self.check("wrong_tag", "wrong tag: rank 0 waits for tag 7 from rank 1, and rank 1 has sent it tag 8",
                          r"MPI_Recv at \w+ \(wrong\.c:\d+\)")
        self.assertIn("deadlock", said)

    def test_wrong_communicator(self):
        self.check("wrong_communicator", "wrong communicator: rank 0 waits for tag 7 from rank 1", "MPI_COMM_WORLD",
                   r"wrong\.c")

    def test_wrong_source(self):
        self.check("wrong_source", "wrong source: rank 0 waits for tag 7 from rank 2, and rank 1 has sent it that",
                   ranks=3)

    def test_a_circle_of_receives(self):
        self.check("receives", "deadlock: rank 0 waits for a message from rank 1, rank 1 waits", "tag 3", r"wrong\.c",
                   ranks=3)

    def test_a_circle_of_large_sends(self):
        said = self.check("sends", "deadlock: rank 0 waits for rank 1 to receive", r"MPI_Send at sends \(wrong\.c", ranks=3)
        self.assertIn("all of them send before they receive", said)

    def test_synchronous_sends(self):
        self.check("synchronous_sends", "deadlock: rank 0 waits for rank 1 to receive", "MPI_Ssend")

    def test_a_send_to_itself(self):
        self.check("self_send", "deadlock: rank 0 waits for itself", r"MPI_Ssend at self_send \(wrong\.c")

    def test_collectives_in_another_order(self):
        self.check("order", "collective operations in different orders in MPI_COMM_WORLD",
                   "rank 0 calls MPI_Reduce as operation 4", r"wrong\.c", ranks=3, env=MESSAGES)

    def test_nonblocking_collectives_in_another_order(self):
        self.check("nonblocking_order", "different orders in MPI_COMM_WORLD", "rank 0 calls MPI_Igather",
                   r"wrong\.c", ranks=3, env=MESSAGES)

    def test_collectives_of_two_communicators_in_another_order(self):
        self.check("communicators", "deadlock: collective operations in different orders",
                   r"MPI_Barrier at communicators \(wrong\.c", 'communicator "first"', ranks=3)

    def test_different_roots(self):
        self.check("roots", "a collective operation with different roots in MPI_COMM_WORLD", "root 0", "root 1", ranks=3,
                   env=MESSAGES)

    def test_a_rank_in_a_receive_while_others_meet(self):
        self.check("missing", "deadlock: rank 0 waits for a message from rank 1", "MPI_Barrier", r"wrong\.c")

    def test_a_lock_that_is_held(self):
        said = self.check("lock", "deadlock: ", "lock that rank 0 holds", r"MPI_Win_lock|MPI_Recv", ranks=3)
        self.assertIn("MPI_Win_unlock", said)

    def test_posts_that_do_not_come(self):
        self.check("posts", "deadlock", "MPI_Win_post", r"MPI_Win_start at posts \(wrong\.c")

    def test_any_source(self):
        self.check("any_source", "deadlock: rank 0 waits for a message from rank 1", "MPI_Recv", "any rank", ranks=3)

    def test_some_of_several_requests(self):
        self.check("waitall", "deadlock: ", r"MPI_Waitall at waitall \(wrong\.c", "tag 2")

    def test_threads(self):
        self.check("threads", "deadlock: ", "thread", "MPI_Recv")

    LOST = r"rank 0 \(pid \d+\), thread \d+, is in pthread_cond_wait at send_when_told \(wrong\.c:\d+\), and no thread is left to wake it"

    def test_a_lost_wake_of_the_thread_that_was_to_send(self):
        self.check("thread_lost_wake", "deadlock: rank 0 waits for a message from rank 1, and rank 1 waits", self.LOST)

    def test_a_lost_wake_of_a_thread_that_was_to_send_to_another_one(self):
        self.check("thread_lost_wake_self", "deadlock: rank 0 waits for itself", self.LOST)

    def test_a_lost_wake_while_the_others_wait_outside_of_mpi(self):
        # A sanitizer waits for the thread in the place of pthread_join.
        joins = "is in" if os.environ.get("SANITIZED") == "1" else r"pthread_join at thread_lost_wake_outside \(wrong\.c"
        said = self.check("thread_lost_wake_outside", r"lost wake: all threads of rank 0 \(pid \d+\) wait for each other",
                          self.LOST, joins)
        self.assertRegex(said, r"rank 1 \(pid \d+\) is in MPI_Recv")

    def test_a_stopped_rank(self):
        job = self.start("sleeping", 3)
        self.wait_for(job, "rank 1 sleeps outside of MPI")
        pid = self.pids(job)[1]
        os.kill(pid, signal.SIGSTOP)
        self.addCleanup(os.kill, pid, signal.SIGCONT)
        said = self.wait_for(job, rf"rank 1 \(pid {pid}\) is stopped by a signal", f"kill -CONT {pid}", "MPI_Barrier")
        self.assertEqual(said.returncode, 1)

    def test_a_rank_that_is_lost_in_a_loop(self):
        job = self.start("compute", 3)
        said = self.wait_for(job, "rank 1 computes, and ranks 0 and 2 wait for it", r"rank 1 \(pid \d+\) computes",
                             r"MPI_Barrier at compute \(wrong\.c")
        self.assertEqual(said.returncode, 0)

    def test_eight_ranks(self):
        self.check("receives", "deadlock: rank 0 waits for a message from rank 1", "round 8 ranks", ranks=8)


class Right(Case):
    """No false alarm, however often it is asked."""

    def check(self, way, *parts, ranks=2):
        job = self.start(way, ranks)
        seen, times, until = "", 0, time.monotonic() + timing.HANGS
        while job.poll() is None:
            said = self.why(job)
            if said.returncode == 2:  # it has not begun, or has ended
                continue
            self.assertEqual(said.returncode, 0, said.stdout)
            self.assertNotIn("deadlock:", said.stdout)
            seen += said.stdout
            times += 1
            if times >= 8 and all(re.search(part, seen) for part in parts) or time.monotonic() > until:
                self.enough.touch()
        self.assertEqual(job.returncode, 0)
        for part in parts:
            self.assertRegex(seen, part)

    def test_a_rank_that_computes(self):
        self.check("compute", r"(?m)^rank 1 computes, and ranks? 0.* waits? for it: no deadlock",
                   r"MPI_Barrier at compute \(wrong\.c")

    def test_a_rank_that_sleeps(self):
        self.check("sleeping", "rank 1 sleeps outside of MPI, and rank 0 waits for it", ranks=2)

    def test_a_chain_that_waits_for_a_late_sender(self):
        self.check("late_sender", "rank 0 sleeps outside of MPI, and ranks 1 and 2 wait for it", ranks=3)

    def test_a_server_that_waits_for_any_client(self):
        self.check("server", "rank 1 computes", "MPI_Waitany", ranks=3)

    def test_ping_pong(self):
        self.check("ping_pong", ranks=2)

    def test_a_lock_whose_holder_computes(self):
        self.check("slow_lock", "rank 1 computes", "MPI_Win_lock")

    def test_a_thread_that_sends_later(self):
        self.check("slow_thread", "ranks 0 and 1 have threads outside of MPI that may still call it")

    def test_a_thread_that_waits_for_a_time_and_then_sends(self):
        self.check("timed_thread", "ranks 0 and 1 have threads outside of MPI that may still call it")

    def test_a_rank_that_the_handler_of_a_signal_wakes(self):
        self.check("handler", "rank 0 sleeps outside of MPI, and rank 1 waits for it")

    def test_a_rank_that_starts_late(self):
        self.check("no_init", "rank 1 has not come through MPI_Init")


class Tool(Case):
    def test_json(self):
        job = self.start("wrong_tag")
        self.wait_for(job, "wrong tag")
        answer = json.loads(self.why(job, "--json").stdout)
        self.assertEqual(answer["findings"][0]["cause"], "near miss")
        self.assertEqual(answer["size"], 2)
        self.assertEqual(answer["ranks"][0]["waits"][0]["call"], "MPI_Recv")

    def test_by_the_name_of_the_job_and_by_a_rank(self):
        job = self.start("wrong_tag")
        self.wait_for(job, "wrong tag")
        name = json.loads(self.why(job, "--json").stdout)["job"]
        for wanted in (name, str(self.pids(job)[1])):
            said = subprocess.run([os.path.join(BIN, "weft"), "why", wanted], capture_output=True, text=True, timeout=timing.HANGS,
                                  check=False)
            self.assertIn("wrong tag", said.stdout)

    def test_what_is_no_job(self):
        said = subprocess.run([os.path.join(BIN, "weft"), "why", "1"], capture_output=True, text=True, timeout=timing.HANGS,
                              check=False)
        self.assertEqual(said.returncode, 2)
        self.assertIn("Remedy", said.stderr)

    def test_a_program_without_mpiexec(self):
        job = subprocess.Popen([WRONG, "self_send"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.end, job)
        self.wait_for(job, "deadlock: rank 0 waits for itself")


class Launcher(Case):
    def test_of_ranks_that_fail_together_one_is_named(self):
        for _ in range(10):
            done = subprocess.run([os.path.join(BIN, "mpiexec"), "-q", "--oversubscribe", "-n", "4", WRONG, "all_fail"],
                                  capture_output=True, text=True, timeout=timing.HANGS)
            self.assertRegex(done.stderr, r"^weft: (rank \d \(pid \d+)\): MPI_Send: destination 4 is not a rank .*\n"
                                          r"weft: mpiexec: \1, .*ended the job with status 6; the job is ended\n$")
            self.assertEqual(done.returncode, 6)

    def test_says_why_after_a_quiet_time_once(self):
        job = self.start("wrong_tag", env={"WEFT_WHY_AFTER": "1"})
        lines = [job.stderr.readline() for _ in range(3)]
        self.assertIn("the job stands still", lines[0])
        self.assertIn("wrong tag: rank 0 waits for tag 7 from rank 1", lines[1])
        time.sleep(3)
        self.assertIsNone(job.poll())
        job.terminate()
        rest = job.communicate(timeout=timing.HANGS)[1]
        self.assertNotIn("stands still", rest)

    def test_is_silent_while_a_rank_computes(self):
        job = self.start("compute", env={"WEFT_WHY_AFTER": "1"})
        time.sleep(3)
        self.enough.touch()
        _, said = job.communicate(timeout=timing.HANGS)
        self.assertEqual((job.returncode, said), (0, ""))

    def test_says_why_at_its_timeout(self):
        cause = "wrong tag: rank 0 waits for tag 7 from rank 1"
        for seconds in (1, 4, 16, 64):  # by then both ranks stand still
            done = subprocess.run([os.path.join(BIN, "mpiexec"), "-q", "--oversubscribe", "--timeout", str(seconds), "-n", "2", WRONG,
                                   "wrong_tag"], capture_output=True, text=True, timeout=200, check=False)
            self.assertEqual(done.returncode, 124)
            if cause in done.stderr:
                break
        self.assertRegex(done.stderr, rf"(?s)did not end within {seconds} s.*{cause}")


if __name__ == "__main__":
    unittest.main()
