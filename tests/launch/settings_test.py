#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Settings that have no effect here are told by one rank of a job. LAUNCH_BIN is the folder of mpiexec, STATIST a program of MPI,
FILES one that opens a file, SHMEM one of OpenSHMEM, HYBRID one of both."""
import ctypes
import os
import subprocess
import unittest

import timing

MPIEXEC = os.path.join(os.environ["LAUNCH_BIN"], "mpiexec")
STATIST = [os.environ["STATIST"], "nothing"]
FILES = [os.environ["FILES"]]
SHMEM = [os.environ["SHMEM"]]
HYBRID = [os.environ["HYBRID"], "mpi", "shmem"]


class Case(unittest.TestCase):
    def run_job(self, program=STATIST, ranks=3, **more):
        settings = {name: value for name, value in more.items() if name.isupper()}
        rest = {name: value for name, value in more.items() if not name.isupper()}
        return subprocess.run([MPIEXEC, "-q", "-n", str(ranks), *program], capture_output=True, text=True, timeout=timing.HANGS,
                              check=False, env={**os.environ, **settings}, **rest)

    def told_once(self, text, **more):
        """The job goes on, and one rank says the text."""
        done = self.run_job(**more)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count("weft: "), 1, done.stderr)
        self.assertRegex(done.stderr, "rank 0 .*warning: .*" + text + ".*Remedy: ")

    def says_nothing(self, **more):
        done = self.run_job(**more)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class Unused(Case):
    def test_settings_of_statistics_that_are_off(self):
        self.told_once("WEFT_ENERGY has no effect.*WEFT_STATS", WEFT_ENERGY="on")
        self.told_once("WEFT_STATS_FILE has no effect.*WEFT_STATS", WEFT_STATS_FILE="/dev/null")
        self.says_nothing(WEFT_ENERGY="off")

    def test_the_file_of_statistics_of_files_that_are_off(self):
        self.told_once("WEFT_IO_STATS_FILE has no effect", program=FILES, WEFT_IO_STATS_FILE="/dev/null")

    def test_statistics_of_openshmem(self):
        self.told_once("WEFT_STATS has no effect.*OpenSHMEM alone", program=SHMEM, WEFT_STATS="summary")
        done = self.run_job(program=HYBRID, WEFT_STATS="summary")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("has no effect", done.stderr)
        self.assertIn("MPI_", done.stderr)

    def test_a_component_whose_library_is_missing(self):
        self.told_once("WEFT_OFFLOAD=ucc has no effect here: .*/nowhere/libucc", WEFT_OFFLOAD="ucc",
                       WEFT_LIBUCC="/nowhere/libucc.so", WEFT_ALLREDUCE_ALGORITHM="offload")

    def test_a_component_without_an_algorithm_and_an_algorithm_without_a_component(self):
        self.told_once("WEFT_OFFLOAD=mock has no effect: no setting and no row", WEFT_OFFLOAD="mock")
        self.told_once("the algorithm offload.*is passed over", WEFT_BARRIER_ALGORITHM="offload")
        self.says_nothing(WEFT_OFFLOAD="mock", WEFT_BARRIER_ALGORITHM="offload")

    def test_huge_pages_where_the_system_gives_none(self):
        pr_set_thp_disable = 41  # inherited by those that the process starts
        prctl = ctypes.CDLL(None).prctl
        self.told_once("WEFT_HUGE_PAGES=on: the system gives no huge pages", WEFT_HUGE_PAGES="on",
                       preexec_fn=lambda: prctl(pr_set_thp_disable, 1, 0, 0, 0))


if __name__ == "__main__":
    unittest.main()
