#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""How ranks find each other: under mpiexec, under a PMI-1 server (one in this file, and Hydra when HYDRA names it), alone,
and what is said when they cannot. JOINER is the program of joiner.cpp."""
import os
import re
import socket
import subprocess
import sys
import threading
import time
import unittest

MPIEXEC = os.path.join(os.environ["LAUNCH_BIN"], "mpiexec")
JOINER = os.environ["JOINER"]
HYDRA = os.environ.get("HYDRA")
LAUNCHERS = ("PMI", "PMIX", "OMPI", "SLURM", "WEFT", "PALS", "MPIRUN", "JSM")


def clean(**more):
    env = {k: v for k, v in os.environ.items() if not k.startswith(LAUNCHERS)}
    env.update(more)
    return env


def run(*words, **env):
    return subprocess.run([*words], capture_output=True, text=True, timeout=30, env=clean(**env), stdin=subprocess.DEVNULL)


def ranks_of(out):
    return sorted(line.split()[0] for line in out.splitlines())


class Alone(unittest.TestCase):
    def test_a_program_started_by_hand_is_a_job_of_one(self):
        done = run(JOINER)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"^0/1 singleton app=-1 local=1 cpus=\d+ universe unknown\n$")

    def test_abort_ends_with_its_status_and_its_words(self):
        done = run(JOINER, "abort")
        self.assertEqual(done.returncode, 42)
        self.assertRegex(done.stderr, r"^weft: pid \d+: told to abort\n$")
        self.assertIn("0/1", done.stdout, "what was printed before is not lost")

    def test_launchers_that_cannot_be_spoken_to_are_named(self):
        for env, name in (({"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "2"}, "Open MPI"),
                          ({"SLURM_PROCID": "1", "SLURM_STEP_NUM_TASKS": "4"}, "srun"),
                          ({"PMIX_RANK": "0", "PMIX_NAMESPACE": "x"}, "PMIx"),
                          ({"PMI_RANK": "1", "PMI_SIZE": "2"}, "without PMI_FD"),
                          ({"PALS_RANKID": "0", "PALS_SIZE": "2"}, "PALS"),
                          ({"PMI_RANK": "1", "PMI_SIZE": "many"}, "without PMI_FD")):
            done = run(JOINER, **env)
            self.assertEqual(done.returncode, 1, env)
            self.assertEqual(done.stdout, "", env)
            self.assertIn(name, done.stderr)
            self.assertIn("Remedy: ", done.stderr)
            done = run(JOINER, WEFT_LAUNCHER="singleton", **env)
            self.assertEqual(done.returncode, 0, env)

    def test_a_launcher_of_one_process_is_no_problem(self):
        for env in ({"SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "1"}, {"SLURM_PROCID": "0", "SLURM_NTASKS": "8"},
                    {"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "1", "PMIX_RANK": "0"}):
            self.assertEqual(run(JOINER, **env).returncode, 0, env)

    def test_broken_variables_of_our_own_launcher(self):
        good = {"WEFT_RANK": "0", "WEFT_SIZE": "2", "WEFT_SEGMENT_FD": "0"}
        for change, text in (({"WEFT_RANK": "2"}, "out of range: 0 to 1"), ({"WEFT_RANK": "x"}, "WEFT_RANK"),
                             ({"WEFT_SIZE": "0"}, "WEFT_SIZE"), ({"WEFT_SIZE": "99999999999999999999"}, "too large"),
                             ({"WEFT_SEGMENT_FD": "-1"}, "WEFT_SEGMENT_FD"), ({}, "not the job's segment"),
                             ({"WEFT_SEGMENT_FD": "77"}, "not the job's segment")):
            done = run(JOINER, **{**good, **change})
            self.assertEqual(done.returncode, 1, change)
            self.assertIn(text, done.stderr, change)
            self.assertIn("mpiexec", done.stderr)
        del good["WEFT_SIZE"]
        self.assertIn("WEFT_SIZE is not set", run(JOINER, **good).stderr)


class UnderMpiexec(unittest.TestCase):
    def mpiexec(self, *words, **env):
        return run(MPIEXEC, "-q", *words, **env)

    def test_ranks_share_their_segment(self):
        for size in (1, 2, 5, 8):
            done = self.mpiexec("-n", str(size), JOINER)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stderr, "")
            self.assertEqual(ranks_of(done.stdout), sorted(f"{r}/{size}" for r in range(size)))
            self.assertRegex(done.stdout, rf"mpiexec app=0 local={size} cpus=\d+\n")

    def test_programs_know_their_number(self):
        done = self.mpiexec("-n", "2", JOINER, ":", "-n", "1", JOINER)
        self.assertEqual(sorted(re.findall(r"^\d/3 mpiexec app=\d", done.stdout, re.M)),
                         ["0/3 mpiexec app=0", "1/3 mpiexec app=0", "2/3 mpiexec app=1"])

    def test_a_rank_that_leaves_without_finalize_ends_the_job(self):
        for size in ("1", "3"):
            done = self.mpiexec("-n", size, JOINER, "unfinished")
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, r"rank \d \(.*\) exited after MPI_Init without calling MPI_Finalize")
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_a_failure_after_finalize_is_still_a_failure(self):
        done = self.mpiexec("-n", "2", JOINER, "status")
        self.assertEqual(done.returncode, 6)

    def test_abort_ends_all_ranks_with_its_status(self):
        began = time.monotonic()
        done = self.mpiexec("-n", "3", JOINER, "abort")
        self.assertLess(time.monotonic() - began, 2)
        self.assertEqual(done.returncode, 42)
        self.assertRegex(done.stderr, r"weft: rank 2 \(pid \d+\): told to abort\n")
        self.assertRegex(done.stderr, r"rank 2 \(.*\) ended the job with status 42")
        done = self.mpiexec("-n", "3", JOINER, "abort0")
        self.assertEqual(done.returncode, 0)
        self.assertIn("ended the job with status 0", done.stderr)

    def test_a_second_program_cannot_take_the_same_rank(self):
        done = self.mpiexec("-n", "2", JOINER, "child")
        self.assertEqual(done.returncode, 5)
        self.assertRegex(done.stderr, r"rank 1 of job \S+ is process \d+ already.*Remedy: .*WEFT_LAUNCHER=singleton")
        done = self.mpiexec("-n", "1", "sh", "-c", f"{JOINER} && {JOINER}")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"rank 0 of job \S+ is process \d+ already")

    def test_a_wrapper_that_closes_descriptors_does_no_harm(self):
        script = f"import subprocess, sys; sys.exit(subprocess.run(['{JOINER}']).returncode)"
        done = self.mpiexec("-n", "2", sys.executable, "-c", script)
        self.assertEqual((done.returncode, ranks_of(done.stdout)), (0, ["0/2", "1/2"]), done.stderr)
        done = self.mpiexec("-n", "2", "bash", "-c", f"exec 3>&- 4>&- 5>/dev/null 9>/dev/null; exec {JOINER}")
        self.assertEqual((done.returncode, ranks_of(done.stdout)), (0, ["0/2", "1/2"]), done.stderr)

    def test_ranks_that_disagree_on_the_segment(self):
        done = self.mpiexec("-n", "1", JOINER, ":", "-n", "1", "-x", "JOINER_EXTRA=8192", JOINER)
        self.assertEqual(done.returncode, 1)
        self.assertIn("do not agree on the size", done.stderr)

    def test_a_job_inside_a_rank(self):
        done = self.mpiexec("-n", "1", MPIEXEC, "-q", "-n", "2", JOINER)
        self.assertEqual(ranks_of(done.stdout), ["0/2", "1/2"], done.stderr)


class PmiServer:
    """PMI-1 for the ranks of one job, over socket pairs. `quirks` maps a command to the answer to give instead."""

    def __init__(self, size, quirks=None, values=None):
        self.size, self.quirks, self.values = size, quirks or {}, values or {}
        self.lock, self.waiting, self.sockets, self.aborted = threading.Lock(), [], [], None
        self.processes = []

    def run(self, *words, **env):
        threads = []
        for rank in range(self.size):
            ours, theirs = socket.socketpair()
            self.sockets.append(ours)
            env_all = clean(PMI_FD=str(theirs.fileno()), PMI_RANK=str(rank), PMI_SIZE=str(self.size), **env)
            self.processes.append(subprocess.Popen([JOINER, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                                   pass_fds=[theirs.fileno()], env=env_all, stdin=subprocess.DEVNULL))
            theirs.close()
            threads.append(threading.Thread(target=self.serve, args=(ours,), daemon=True))
            threads[-1].start()
        results = []
        for process in self.processes:
            try:
                out, err = process.communicate(timeout=15)
            except subprocess.TimeoutExpired:
                process.kill()
                out, err = process.communicate()
                err += "(killed after 15 s)"
            results.append((process.returncode, out, err))
        for thread in threads:
            thread.join(5)
        for sock in self.sockets:
            sock.close()
        return results

    def answer(self, words):
        cmd = words.get("cmd")
        if cmd in self.quirks:
            return self.quirks[cmd]
        if cmd == "init":
            return "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0"
        if cmd == "get_maxes":
            return "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024"
        if cmd == "get_my_kvsname":
            return "cmd=my_kvsname kvsname=kvs_test"
        if cmd == "get_appnum":
            return "cmd=appnum appnum=0"
        if cmd == "get_universe_size":
            return "cmd=universe_size size=16"
        if cmd == "put":
            self.values.setdefault(words["key"], words["value"])
            return "cmd=put_result rc=0 msg=success"
        if cmd == "get":
            if words["key"] in self.values:
                return f"cmd=get_result rc=0 msg=success value={self.values[words['key']]}"
            return "cmd=get_result rc=-1 msg=key_not_found value=unknown"
        if cmd == "finalize":
            return "cmd=finalize_ack"
        return None

    def serve(self, sock):
        try:
            for line in sock.makefile():
                words = dict(w.split("=", 1) for w in line.split())
                with self.lock:
                    if words["cmd"] == "abort":
                        self.aborted = int(words["exitcode"])
                        time.sleep(0.05)  # for what the rank still says
                        for process in self.processes:
                            process.terminate()
                        return
                    if words["cmd"] == "barrier_in" and "barrier_in" not in self.quirks:
                        self.waiting.append(sock)
                        if len(self.waiting) == self.size:
                            for each in self.waiting:
                                each.sendall(b"cmd=barrier_out\n")
                            self.waiting = []
                        continue
                    reply = self.answer(words)
                if reply is None:
                    sock.shutdown(socket.SHUT_RDWR)
                    return
                # In two pieces: a line may come in any.
                data = reply.encode() + b"\n"
                sock.sendall(data[:7])
                sock.sendall(data[7:])
        except OSError:
            pass


class UnderPmi1(unittest.TestCase):
    def test_ranks_share_their_segment(self):
        for size in (1, 2, 5):
            results = PmiServer(size).run()
            for rank, (status, out, err) in enumerate(results):
                self.assertEqual((status, err), (0, ""))
                self.assertRegex(out, rf"^{rank}/{size} PMI-1 app=0 local={size} cpus=\d+\n$")

    def test_abort_is_passed_to_the_launcher(self):
        server = PmiServer(2)
        results = server.run("abort")
        self.assertEqual(server.aborted, 42)
        self.assertIn("rank 1", results[1][2])
        self.assertIn("told to abort", results[1][2])

    def test_ranks_on_several_hosts_are_told_so(self):
        server = PmiServer(2, values={"weft-1": "another-boot@otherhost/0-1"})
        results = server.run()
        self.assertNotEqual(results[0][0], 0)
        self.assertRegex(results[0][2], r'rank 1 on host "otherhost"; messages between hosts are not there yet.*Remedy')
        self.assertEqual(server.aborted, 1)

    def test_a_server_that_misbehaves_is_an_error_and_no_hang(self):
        for command, reply, text in (("init", "cmd=response_to_init rc=-1", "refused cmd=init"),
                                     ("init", "hello there", "is not PMI-1"), ("get_maxes", "cmd=other", "answered"),
                                     ("get_my_kvsname", "cmd=my_kvsname", "no name"), ("put", "cmd=put_result rc=7", "refused"),
                                     ("get_maxes", "cmd=maxes x=" + "y" * 20000, "more than"),
                                     ("get_my_kvsname", None, "closed the connection")):
            server = PmiServer(2, quirks={command: reply})
            for status, out, err in server.run():
                self.assertNotEqual(status, 0, command)
                self.assertEqual(out, "")
            self.assertTrue(any(text in err for _, _, err in PmiServer(2, quirks={command: reply}).run()), (command, reply))

    def test_a_reply_without_rc_is_success(self):
        self.assertEqual(PmiServer(1, quirks={"init": "cmd=response_to_init pmi_version=1 pmi_subversion=1"}).run()[0][0], 0)

    def test_what_is_not_a_segment_is_refused(self):
        results = PmiServer(2, values={"weft-0": "1:0:0:0/2"}).run()
        self.assertIn("cannot open the segment of rank 0", results[1][2])
        results = PmiServer(2, values={"weft-0": "nonsense"}).run()
        self.assertIn("which is no segment", results[1][2])

    def test_a_descriptor_that_is_closed(self):
        done = run(JOINER, PMI_FD="99", PMI_RANK="0", PMI_SIZE="2")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"PMI-1.*Bad file descriptor.*Remedy")
        done = run(JOINER, PMI_FD="99", PMI_RANK="5", PMI_SIZE="2")
        self.assertIn("PMI_RANK", done.stderr)


@unittest.skipUnless(HYDRA, "no Hydra here")
class UnderHydra(unittest.TestCase):
    def test_ranks_share_their_segment(self):
        for size in (1, 2, 5):
            done = run(HYDRA, "-n", str(size), JOINER)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(ranks_of(done.stdout), sorted(f"{r}/{size}" for r in range(size)))
            self.assertIn("PMI-1", done.stdout)

    def test_abort(self):
        began = time.monotonic()
        self.assertEqual(run(HYDRA, "-n", "3", JOINER, "abort").returncode, 42)
        self.assertLess(time.monotonic() - began, 5)

    def test_over_tcp(self):
        done = run(HYDRA, "-pmi-port", "-n", "3", JOINER)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(ranks_of(done.stdout), ["0/3", "1/3", "2/3"])


if __name__ == "__main__":
    unittest.main()
