#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""How ranks find each other: under mpiexec, under servers of PMI-1 and PMI-2 (pmi_server.py), under the launchers that
the environment names (HYDRA of MPICH, INTEL_HYDRA, PRTERUN of Open MPI, SLURM for the script that starts one), alone, and what
is said when they cannot. JOINER is the program of joiner.cpp, ABORTER that of tests/mpi/errors_fatal.cpp, SESSIONS that of tests/mpi/sessions_after.cpp."""
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

import pmi1
import timing
from pmi_server import PmiServer

MPIEXEC = os.path.join(os.environ["LAUNCH_BIN"], "mpiexec")
JOINER = os.environ["JOINER"]
ABORTER = os.environ["ABORTER"]
SESSIONS = os.environ["SESSIONS"]
HYDRA = os.environ.get("HYDRA")
INTEL_HYDRA = os.environ.get("INTEL_HYDRA")
PRTERUN = os.environ.get("PRTERUN")
SLURM = os.environ.get("SLURM")
clean = pmi1.clean


def run(*words, **env):
    return subprocess.run([*words], capture_output=True, text=True, timeout=timing.HANGS, env=clean(**env), stdin=subprocess.DEVNULL)


def ranks_of(out):
    return sorted(line.split()[0] for line in out.splitlines())


def all_ranks(size):
    return sorted(f"{rank}/{size}" for rank in range(size))


class Alone(unittest.TestCase):
    def test_an_aborted_program_never_ends_with_0(self):
        for when in ("abort", "early_abort"):
            for status, seen in ((0, 1), (256, 1), (-512, 1), (258, 2)):
                done = run(ABORTER, when, str(status))
                self.assertEqual(done.returncode, seen, (when, status, done.stderr))

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
        for env, name in (({"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "2"}, "Open MPI's mpirun without PMIx"),
                          ({"SLURM_PROCID": "1", "SLURM_STEP_NUM_TASKS": "4"}, "srun without PMI"),
                          ({"PMIX_RANK": "0", "PMIX_NAMESPACE": "x"}, "without PMIX_SERVER_URI"),
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

    def test_a_protocol_that_was_asked_for_and_is_not_there(self):
        for choice, name in (("pmi1", "PMI-1"), ("pmi2", "PMI-2"), ("pmix", "PMIx")):
            done = run(JOINER, WEFT_LAUNCHER=choice)
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, rf"\({name}\) cannot be used: PMIX?_\w+ is not set\. Remedy: .*mpiexec")

    def test_pmix_without_its_library(self):
        env = {"PMIX_RANK": "0", "PMIX_NAMESPACE": "x", "PMIX_SERVER_URI41": "x"}
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "libpmix.so.2"), "w"):
                pass
            done = run(JOINER, LD_LIBRARY_PATH=folder, **env)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertRegex(done.stderr, r"PMIx's library cannot be loaded: .*Remedy: install libpmix2.*WEFT_LAUNCHER=singleton")
            alone = {"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "1"}
            self.assertIn("singleton", run(JOINER, LD_LIBRARY_PATH=folder, **env, **alone).stdout, "a job of one needs none")

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
            self.assertEqual(ranks_of(done.stdout), all_ranks(size))
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
        took = timing.Took()
        done = self.mpiexec("-n", "3", JOINER, "abort")
        took.at_most(self.assertLess, "seconds until an abort has ended the job", 2)
        self.assertEqual(done.returncode, 42)
        self.assertRegex(done.stderr, r"weft: rank 2 \(pid \d+\): told to abort\n")
        self.assertRegex(done.stderr, r"rank 2 \(.*\) ended the job with status 42")
        done = self.mpiexec("-n", "3", JOINER, "abort0")  # as OpenSHMEM's programs may
        self.assertEqual(done.returncode, 0)
        self.assertIn("ended the job with status 0", done.stderr)

    def test_an_aborted_program_never_ends_with_0(self):
        for when in ("abort", "early_abort"):
            for status, seen in ((0, 1), (256, 1), (-512, 1), (257, 1), (258, 2)):
                done = self.mpiexec("-n", "2", ABORTER, when, str(status))
                self.assertEqual(done.returncode, seen, (when, status, done.stderr))

    def test_a_bad_setting_is_told_once(self):
        done = self.mpiexec("-n", "4", "-x", "WEFT_RANK_REORDER_METHOD=9", JOINER)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.count("WEFT_RANK_REORDER_METHOD cannot be used"), 1, done.stderr)
        done = self.mpiexec("-n", "1", JOINER, ":", "-n", "1", "-x", "WEFT_RANK_REORDER_METHOD=9", JOINER)
        self.assertEqual(done.stderr.count("WEFT_RANK_REORDER_METHOD cannot be used"), 1, done.stderr)

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


class Server(unittest.TestCase):
    """What holds for both protocols."""

    def shares_its_segment(self, speaks, name):
        for size in (1, 2, 5):
            results = PmiServer(size, speaks).run()
            for rank, (status, out, err) in enumerate(results):
                self.assertEqual((status, err), (0, ""))
                self.assertRegex(out, rf"^{rank}/{size} {name} app=0 local={size} cpus=\d+\n$")

    def passes_abort_on(self, speaks):
        server = PmiServer(2, speaks)
        results = server.run("abort")
        self.assertEqual(server.aborted, 42)
        self.assertRegex(results[1][2], r"rank 1 \(pid \d+\): told to abort")

    def tells_where_ranks_are(self, speaks):
        one, two = {"PMI_process_mapping": "(vector,(0,1,3))"}, {"PMI_process_mapping": "(vector,(0,2,2))"}
        for values, local in ((one, [3, 3, 3]), (two, [2, 2, 1]), ({"PMI_process_mapping": "nonsense"}, [3, 3, 3])):
            results = PmiServer(3, speaks, values=values).run("exchange")
            for rank, (status, out, err) in enumerate(results):
                self.assertEqual((status, err), (0, ""))
                self.assertRegex(out, rf"^{rank}/3 .* local={local[rank]} ")

    def exchanges(self, speaks, lazy=False):
        for status, _, err in PmiServer(3, speaks, lazy=lazy).run("exchange"):
            self.assertEqual((status, err), (0, ""))

    def refuses(self, speaks, quirks):
        """Each quirk must end the job with its text, and without a hang."""
        for command, reply, text in quirks:
            results = PmiServer(2, speaks, quirks={command: reply}).run()
            for status, out, err in results:
                self.assertNotEqual(status, 0, command)
                self.assertEqual(out, "")
                self.assertNotIn("killed after", err)
            self.assertTrue(any(text in err for _, _, err in results), (command, reply, results))


class UnderPmi1(Server):
    def test_ranks_share_their_segment(self):
        self.shares_its_segment((1,), "PMI-1")
        self.shares_its_segment((1, 2), "PMI-1")

    def test_abort_is_passed_to_the_launcher(self):
        self.passes_abort_on((1,))

    def test_ranks_see_what_others_publish(self):
        self.exchanges((1,))

    def test_the_launcher_tells_which_ranks_share_a_host(self):
        self.tells_where_ranks_are((1,))

    def test_without_that_ranks_compare_their_hosts(self):
        other = "another-boot@otherhost"
        results = PmiServer(2, told={0: {"weft-host-1": other}, 1: {"weft-host-0": other}}).run("exchange")
        for rank, (status, out, err) in enumerate(results):
            self.assertEqual((status, err), (0, ""))
            self.assertRegex(out, rf"^{rank}/2 PMI-1 app=0 local=1 ")

    def test_a_launcher_that_puts_ranks_of_two_hosts_on_one(self):
        values = {"PMI_process_mapping": "(vector,(0,1,2))", "weft-segment-0": "another-boot@otherhost/1:2:3:4"}
        server = PmiServer(2, values=values)
        results = server.run()
        self.assertNotEqual(results[1][0], 0)
        self.assertRegex(results[1][2], r'ranks 0 and 1 are on one host, but they are on "otherhost" and ".*".*Remedy')
        self.assertEqual(server.aborted, 1)

    def test_a_server_that_misbehaves_is_an_error_and_no_hang(self):
        self.refuses((1,), (("init", "cmd=response_to_init rc=-1", "refused cmd=init"),
                            ("init", "hello there", "is not PMI-1"), ("get_maxes", "cmd=other", "answered"),
                            ("get_my_kvsname", "cmd=my_kvsname", "no name"), ("put", "cmd=put_result rc=7", "refused"),
                            ("get_maxes", "cmd=maxes x=" + "y" * 20000, "more than"),
                            ("get_my_kvsname", None, "closed the connection"), ("barrier_in", "cmd=other", "answered")))

    def test_a_reply_without_rc_is_success(self):
        self.assertEqual(PmiServer(1, quirks={"init": "cmd=response_to_init pmi_version=1 pmi_subversion=1"}).run()[0][0], 0)

    def test_what_is_not_a_segment_is_refused(self):
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            host = re.sub(r"[^A-Za-z0-9._@-]", "_", f"{file.read().strip()}@{socket.gethostname()[:64]}")
        results = PmiServer(2, values={"weft-segment-0": f"{host}/1:0:0:0"}).run()
        self.assertIn("cannot open the segment of rank 0", results[1][2])
        results = PmiServer(2, values={"weft-segment-0": "nonsense"}).run()
        self.assertIn("which is no segment", results[1][2])
        results = PmiServer(2, values={"weft-host-0": "nonsense"}).run()
        self.assertIn("which is no host", results[0][2])

    def test_a_descriptor_that_is_closed(self):
        done = run(JOINER, PMI_FD="99", PMI_RANK="0", PMI_SIZE="2")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"PMI-1.*Bad file descriptor.*Remedy")
        done = run(JOINER, PMI_FD="99", PMI_RANK="5", PMI_SIZE="2")
        self.assertIn("PMI_RANK", done.stderr)


class UnderPmi2(Server):
    def test_ranks_share_their_segment_where_pmi_1_is_refused(self):
        self.shares_its_segment((2,), "PMI-2")

    def test_it_can_be_asked_for(self):
        for _, out, err in PmiServer(2, (1, 2)).run(WEFT_LAUNCHER="pmi2"):
            self.assertIn("PMI-2", out, err)
        for status, _, err in PmiServer(2, (2,)).run(WEFT_LAUNCHER="pmi1"):
            self.assertNotEqual(status, 0)
            self.assertRegex(err, r"\(PMI-1\) cannot be used: it refused cmd=init|^$")

    def test_abort_is_passed_to_the_launcher(self):
        self.passes_abort_on((2,))

    def test_ranks_see_what_others_publish(self):
        self.exchanges((2,))

    def test_a_fence_that_is_no_barrier(self):
        self.exchanges((2,), lazy=True)

    def test_the_launcher_tells_which_ranks_share_a_host(self):
        self.tells_where_ranks_are((2,))

    def test_a_server_that_misbehaves_is_an_error_and_no_hang(self):
        self.refuses((2,), (("fullinit", "cmd=fullinit-response;rc=3;errmsg=no;", "refused cmd=fullinit"),
                            ("fullinit", "hello there", "is not PMI-2"), ("fullinit", None, "closed the connection"),
                            ("job-getid", "cmd=other;", "answered"), ("job-getid", "cmd=job-getid-response;", "no name"),
                            ("job-getid", "cmd=" + "y" * 20000, "which is not PMI-2"),
                            ("kvs-put", "cmd=kvs-put-response;rc=1;", "refused"),
                            ("kvs-get", "cmd=kvs-get-response;found=FALSE;rc=0;", "lost a key"),
                            ("kvs-fence", "cmd=kvs-fence-response;rc=1;", "refused")))

    def test_replies_without_rc_are_success(self):
        quirks = {"fullinit": "cmd=fullinit-response;pmijobid=;size=1;rank=0;", "job-getid": "cmd=job-getid-response;jobid=x;",
                  "finalize": "cmd=finalize-response;"}
        self.assertEqual(PmiServer(1, (2,), quirks=quirks).run()[0][0], 0)


class Launcher(unittest.TestCase):
    """What holds for other libraries' launchers. `start` is the command line up to the number of ranks."""

    def shares_its_segment(self, start, name, **env):
        for size in (1, 2, 5):
            done = run(*start, str(size), JOINER, "exchange", **env)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(ranks_of(done.stdout), all_ranks(size))
            self.assertEqual(done.stdout.count(f" {name} "), size, done.stdout)
            self.assertEqual(done.stdout.count(f" local={size} "), size, done.stdout)

    def passes_abort_on(self, start, status, **env):
        took = timing.Took()
        done = run(*start, "3", JOINER, "abort", **env)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertRegex(done.stderr, r"rank 2 \(pid \d+\): told to abort")
        took.at_most(self.assertLess, f"seconds until {os.path.basename(start[0])} has ended an aborted job", 8)
        for code in ("0", "256"):
            done = run(*start, "2", ABORTER, "abort", code, **env)
            self.assertNotEqual(done.returncode, 0, done.stderr)

    def goes_on_after_finalize(self, start, **env):
        for way in ("all", "some"):
            done = run(*start, "3", SESSIONS, way, **env)
            self.assertEqual(done.returncode, 0, done.stderr)
        done = run(*start, "2", SESSIONS, "abort", **env)
        self.assertNotEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"MPI_Abort\(.*, 7\) was called")
        done = run(*start, "3", SESSIONS, "quick", **env)
        self.assertEqual((done.returncode, done.stdout.count("ends well")), (0, 2), done.stderr)


@unittest.skipUnless(HYDRA, "no Hydra of MPICH here (CMake variable WEFT_HYDRA)")
class UnderHydra(Launcher):
    def test_ranks_share_their_segment(self):
        self.shares_its_segment((HYDRA, "-n"), "PMI-1")
        self.shares_its_segment((HYDRA, "-n"), "PMI-2", WEFT_LAUNCHER="pmi2")

    def test_abort(self):
        self.passes_abort_on((HYDRA, "-n"), 42)
        self.passes_abort_on((HYDRA, "-n"), 42, WEFT_LAUNCHER="pmi2")

    def test_sessions_after_finalize(self):
        self.goes_on_after_finalize((HYDRA, "-n"))
        self.goes_on_after_finalize((HYDRA, "-n"), WEFT_LAUNCHER="pmi2")

    def test_a_bad_order_of_ranks_is_told_once(self):
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("0 1 2 9\n")
            file.flush()
            done = run(HYDRA, "-n", "4", JOINER, WEFT_RANK_REORDER_METHOD="3", WEFT_RANK_REORDER_FILE=file.name)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stderr.count("the rank order file"), 1, done.stderr)

    @unittest.skipUnless(len(os.sched_getaffinity(0)) > 1, "one processor cannot be shared out")
    def test_a_core_is_reserved_where_masks_allow_it(self):
        cpus = sorted(os.sched_getaffinity(0))
        done = run(HYDRA, "-n", "2", JOINER, "masks", WEFT_RESERVE_CORES="1")
        masks = re.findall(r"mask=(\S+) service=(\S+)", done.stdout)
        self.assertEqual(len(masks), 2, done.stdout + done.stderr)
        for mask, service in masks:
            self.assertFalse(self.listed(mask) & self.listed(service))
            self.assertEqual(self.listed(mask) | self.listed(service), set(cpus))
        bound = (HYDRA, "-bind-to", f"user:{cpus[0]},{cpus[0]}", "-n", "2", JOINER, "masks")
        done = run(*bound, WEFT_RESERVE_CORES="1")
        self.assertIn("only 0 cores are kept free of ranks, as a rank has no other processors than", done.stderr)
        self.assertEqual(done.stdout.count(f"mask={cpus[0]} service=\n"), 2, done.stdout)

    @staticmethod
    def listed(text):
        spans = [part.split("-") for part in text.split(",")]
        return {cpu for span in spans for cpu in range(int(span[0]), int(span[-1]) + 1)}

    def test_inside_a_rank_it_has_a_job_of_its_own(self):
        """Hydra leaves the segment of the rank open, and its variables in the environment."""
        done = run(MPIEXEC, "-q", "-n", "1", "sh", "-c", f"'{HYDRA}' -n 2 '{JOINER}'; exit $?")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(ranks_of(done.stdout), all_ranks(2))

    def test_over_tcp(self):
        self.shares_its_segment((HYDRA, "-pmi-port", "-n"), "PMI-1")

    def test_ranks_do_not_keep_hydras_listening_socket(self):
        with socket.create_server(("127.0.0.1", 0)) as own:  # what else they inherit is left to them
            os.set_inheritable(own.fileno(), True)
            done = subprocess.run([HYDRA, "-n", "2", JOINER, "listeners"], capture_output=True, text=True, timeout=timing.HANGS, env=clean(),
                                  stdin=subprocess.DEVNULL, close_fds=False)
        self.assertEqual(done.stdout.count("listeners=1"), 2, done.stdout + done.stderr)


@unittest.skipUnless(INTEL_HYDRA, "no Hydra of Intel MPI here (CMake variable WEFT_INTEL_HYDRA)")
class UnderIntelHydra(Launcher):
    def test_ranks_share_their_segment(self):
        self.shares_its_segment((INTEL_HYDRA, "-n"), "PMI-1")

    def test_abort(self):
        self.passes_abort_on((INTEL_HYDRA, "-n"), 42)


@unittest.skipUnless(PRTERUN, "no prterun here (CMake variable WEFT_PRTERUN)")
class UnderPrterun(Launcher):
    START = (PRTERUN, "--allow-run-as-root", "--map-by", ":OVERSUBSCRIBE", "-n")

    def test_ranks_share_their_segment(self):
        self.shares_its_segment(self.START, "PMIx")

    def test_abort(self):
        self.passes_abort_on(self.START, 42)

    def test_sessions_after_finalize(self):
        self.goes_on_after_finalize(self.START)

    def test_programs_know_their_number(self):
        done = run(*self.START, "2", JOINER, ":", "-n", "1", JOINER)
        self.assertEqual(sorted(re.findall(r"^\d/3 PMIx app=\d", done.stdout, re.M)),
                         ["0/3 PMIx app=0", "1/3 PMIx app=0", "2/3 PMIx app=1"], done.stderr)

    def test_our_own_mpiexec_inside_comes_first(self):
        done = run(*self.START, "1", MPIEXEC, "-q", "-n", "2", JOINER)
        self.assertEqual(done.stdout.count("/2 mpiexec "), 2, done.stderr)


class UnderSlurm(Launcher):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="test-slurm-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, True)
        cls.addClassCleanup(subprocess.run, [SLURM or "false", "down", cls.folder])
        done = subprocess.run([SLURM or "false", "up", cls.folder], capture_output=True, text=True)
        if done.returncode == 77 or not SLURM:
            raise unittest.SkipTest(done.stderr.strip() or "SLURM names no script")
        if done.returncode:
            raise RuntimeError(done.stderr)
        cls.env = {"SLURM_CONF": os.path.join(cls.folder, "slurm.conf")}

    def test_ranks_share_their_segment_by_pmi(self):
        self.shares_its_segment(("srun", "--mpi=pmi2", "-n"), "PMI-1", **self.env)
        self.shares_its_segment(("srun", "--mpi=pmi2", "-n"), "PMI-2", WEFT_LAUNCHER="pmi2", **self.env)

    def test_ranks_share_their_segment_by_pmix(self):
        self.shares_its_segment(("srun", "--mpi=pmix", "-n"), "PMIx", **self.env)

    def test_abort(self):
        killed = 128 + 9  # PMI has Slurm kill the ranks, and loses the status
        self.passes_abort_on(("srun", "--mpi=pmi2", "-n"), killed, **self.env)
        self.passes_abort_on(("srun", "--mpi=pmi2", "-n"), killed, WEFT_LAUNCHER="pmi2", **self.env)
        self.passes_abort_on(("srun", "--mpi=pmix", "-n"), 42, **self.env)

    def test_sessions_after_finalize(self):
        for protocol in ("pmi2", "pmix"):
            self.goes_on_after_finalize(("srun", f"--mpi={protocol}", "-n"), **self.env)

    def test_without_pmi_srun_is_named(self):
        done = run("srun", "--mpi=none", "-n", "2", JOINER, **self.env)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("Slurm's srun without PMI", done.stderr)
        done = run("srun", "--mpi=none", "-n", "1", JOINER, **self.env)
        self.assertEqual((done.returncode, ranks_of(done.stdout)), (0, ["0/1"]), done.stderr)


if __name__ == "__main__":
    unittest.main()
