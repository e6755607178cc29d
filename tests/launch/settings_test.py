#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Settings that have no effect here are told by one rank of a job, and so are other libraries' names of settings. LAUNCH_BIN is the folder of mpiexec, STATIST a program of MPI,
FILES one that opens a file."""
import ctypes
import os
import subprocess
import unittest

import timing

MPIEXEC = os.path.join(os.environ["LAUNCH_BIN"], "mpiexec")
STATIST = [os.environ["STATIST"], "nothing"]
FILES = [os.environ["FILES"]]


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
        self.assertRegex(done.stderr, "^weft: .*warning: .*" + text + ".*Remedy: ")

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

    def test_a_file_of_an_order_that_is_not_asked_for(self):
        self.told_once("WEFT_RANK_REORDER_FILE has no effect: WEFT_RANK_REORDER_METHOD is 1", WEFT_RANK_REORDER_FILE="/nowhere")
        self.says_nothing(MPICH_RANK_REORDER_FILE="/nowhere")

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


def has_driver():
    for name in ("libcuda.so.1", "libamdhip64.so", "libze_loader.so.1"):
        try:
            ctypes.CDLL(name)
            return True
        except OSError:
            continue
    return False


class Aliases(Case):
    """A job never ends by them: they are meant for another library too."""

    def test_values_that_the_other_library_has_are_taken(self):
        for name, value in (("MPICH_ASYNC_PROGRESS", "true"), ("MPICH_NEMESIS_ASYNC_PROGRESS", "MC"), ("MPICH_ASYNC_PROGRESS", "no"),
                            ("MPICH_ALLOC_MEM_PG_SZ", "2G"), ("MPICH_ALLOC_MEM_POLICY", "P"), ("MPICH_MPIIO_STATS", "2"),
                            ("MPICH_RDMA_ENABLED_CUDA", "0")):
            with self.subTest(name=name, value=value):
                self.says_nothing(**{name: value})
        done = self.run_job(program=FILES, MPICH_MPIIO_STATS="2")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Weft: file ", done.stderr)

    def test_other_values_are_told_and_the_default_stays(self):
        for name, value in (("MPICH_RANK_REORDER_METHOD", "7"), ("MPICH_ASYNC_PROGRESS", "maybe"), ("MPICH_ALLOC_MEM_PG_SZ", "3M"),
                            ("MPICH_ALLOC_MEM_AFFINITY", "tape"), ("MPICH_MPIIO_STATS", "many"), ("MPICH_ALLTOALL_SHORT_MSG", "-7"),
                            ("MPICH_GPU_SUPPORT_ENABLED", "2")):
            with self.subTest(name=name):
                self.told_once(f"the environment variable {name} has no effect: \"{value}\"", **{name: value})
        self.says_nothing(MPICH_RANK_REORDER_METHOD="7", WEFT_RANK_REORDER_METHOD="1")

    @unittest.skipIf(has_driver(), "a driver of devices is installed")
    def test_devices_that_are_not_there(self):
        for name in ("MPICH_GPU_SUPPORT_ENABLED", "MPICH_RDMA_ENABLED_CUDA"):
            self.told_once(f"{name} has no effect.*libcuda.so.1 cannot be loaded", **{name: "1"})


if __name__ == "__main__":
    unittest.main()
