#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""The processors that mpiexec gives to ranks, threads and the library, and how it shows them."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from launch_test import CPUS, Case, MPIEXEC, mpiexec, sh


class Binding(Case):
    SHOW = [sys.executable, "-c", "import os; print(os.environ['WEFT_RANK'], *sorted(os.sched_getaffinity(0)))"]

    def sets(self, *words, **more):
        done = mpiexec(*words, *self.SHOW, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = [list(map(int, line.split())) for line in done.stdout.splitlines()]
        return {row[0]: set(row[1:]) for row in rows}

    def test_by_default_shares_are_disjoint_and_ours(self):
        for ranks in range(1, min(len(CPUS), 4) + 1):
            sets = self.sets("-n", str(ranks))
            self.assertEqual(len(sets), ranks)
            seen = set()
            for share in sets.values():
                self.assertTrue(share)
                self.assertFalse(share & seen)
                seen |= share
            self.assertLessEqual(seen, set(CPUS))

    def test_more_ranks_than_processors_get_one_in_turn(self):
        shares = list(self.sets("-n", str(2 * len(CPUS))).values())
        self.assertEqual(sorted(cpu for share in shares for cpu in share), sorted(2 * CPUS))

    def test_threads_get_cores_and_openmp_its_places(self):
        show = sh("echo $OMP_NUM_THREADS $OMP_PLACES $OMP_PROC_BIND")
        bare = {name: value for name, value in os.environ.items() if not name.startswith("OMP_")}

        def told(*words, **more):
            done = subprocess.run([MPIEXEC, "-q", *words, *show], capture_output=True, text=True, timeout=30, env=dict(bare, **more))
            self.assertEqual(done.returncode, 0, done.stderr)
            return done.stdout.split()

        many = str(len(CPUS) + 1)
        self.assertEqual(told(), [])
        self.assertEqual(told("--threads", "1"), ["1", "cores", "close"])
        self.assertEqual(told("--threads", many), [many], "there are not as many cores: OpenMP places them itself")
        self.assertEqual(told("--threads", "1", OMP_PLACES="sockets"), ["1", "sockets"])
        self.assertEqual(told("--threads", "1", "-x", "OMP_PROC_BIND=false"), ["1", "false"])
        self.assertEqual(told("--threads", "1", OMP_NUM_THREADS="3"), ["3", "cores", "close"])
        self.assertEqual(told(OMP_NUM_THREADS="1"), ["1"])
        if len(CPUS) >= 2:
            self.assertEqual(told(OMP_NUM_THREADS="2"), ["2", told("--threads", "2")[1], "close"])

    @unittest.skipIf(len(CPUS) < 2, "one processor cannot be shared out")
    def test_reserved_cores_are_kept_free(self):
        show = ("-n", "3", "-r", "1", *sh("echo $(taskset -cp $$ | sed 's/.*: //') $WEFT_SERVICE_CPUS"))
        for words in ((), ("--bind", "none"), ("--bind", "numa")):
            done = mpiexec(*words, *show)
            self.assertEqual(done.returncode, 0, done.stderr)
            for line in done.stdout.splitlines():
                own, service = line.split()
                self.assertNotIn(service, own.split(","))
        done = mpiexec("--reserve-cores", str(len(CPUS)), "true")
        self.assertEqual(done.returncode, 126)
        self.assertIn("are to be reserved, and ranks need one", done.stderr)
        self.assertEqual(mpiexec("true", env={"WEFT_RESERVE_CORES": str(len(CPUS))}).returncode, 126)

    def layout(self, *words):
        done = mpiexec("--show-layout", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_the_layout_is_a_table_and_a_picture(self):
        shown = self.layout("-n", "3", "--threads", "2", "--machine", "numa:2 l3:2 core:4 pu:1")
        self.assertIn("   0      2       0      0  0,2\n", shown)
        self.assertIn("domain 0 cache 1 [1][.][1][.]\n", shown)
        self.assertIn("domain 1 cache 3 [2][.][.][.]\n", shown)
        for words in (("--bind", "pack", "--threads", "2"), ("--threads", "2", "--bind", "pack")):
            packed = self.layout("-n", "3", *words, "--machine", "numa:2 l3:2 core:4 pu:1")
            self.assertIn("domain 0 cache 1 [1][1][.][.]\n", packed)
            self.assertIn("domain 1 cache 2 [2][2][.][.]\n", packed)
        shown = self.layout("-n", "2", "-r", "2", "--machine", "numa:2 core:3 pu:1")
        self.assertIn("   R      2     0,1    0,1  2,5\n", shown)
        self.assertIn("[0][0][R]", shown)
        self.assertIn("[0+  1]", self.layout("-n", "3", "--machine", "numa:1 core:1 pu:2"))

    def test_the_layout_of_a_job_that_starts_goes_to_stderr(self):
        done = mpiexec("--show-layout", "-n", "2", "echo", "x")
        self.assertEqual(done.stdout, "x\nx\n")
        self.assertRegex(done.stderr, r"(?m)^ +0 .*\n +1 ")
        self.assertIn("domain 0", done.stderr)

    def test_another_machine_is_only_shown(self):
        done = mpiexec("--machine", "core:4", "true")
        self.assertEqual(done.returncode, 2)
        self.assertIn("without a program", done.stderr)
        done = mpiexec("--show-layout", "--machine", "nowhere")
        self.assertEqual(done.returncode, 126)
        self.assertIn("nowhere", done.stderr)

    def test_a_damaged_file_of_a_machine_is_refused(self):
        whole = pathlib.Path(__file__).parents[1] / "unit" / "topology" / "two_packages_hbm.xml"
        self.assertIn("domain 1", self.layout("-n", "2", "--machine", str(whole)))
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "damaged.xml"
            for right, wrong in (("complete_cpuset", "xomplete_cpuset"), ('type="PU"', 'type="PX"'), ("</topology>", "")):
                path.write_text(whole.read_text(encoding="utf-8").replace(right, wrong), encoding="utf-8")
                weft = os.path.join(os.path.dirname(MPIEXEC), "weft")
                for words, status in (([MPIEXEC, "--show-layout", "--machine", str(path)], 126), ([weft, "info", "memory", "--xml", str(path)], 1),
                                      ([weft, "sweep", "--machine", str(path)], 2)):
                    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
                    self.assertEqual(done.returncode, status, (words, wrong, done.stderr))
                    self.assertIn("damaged.xml", done.stderr)
                    self.assertIn("Remedy: ", done.stderr)

    def test_a_huge_machine_is_refused(self):
        weft = os.path.join(os.path.dirname(MPIEXEC), "weft")
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "huge.xml"
            with open(path, "wb") as file:
                file.truncate((64 << 20) + 1)
            pipe = pathlib.Path(folder) / "pipe"
            os.mkfifo(pipe)
            several = "more than 4096 processors"
            for machine, why in (("core:1000000000 pu:1", several), ("pack:100 [numa(memory=1GB)] l3:10(size=64MB) core:100 2", several),
                                 ("4097", several), ("99999999999999999999 2", several), (str(path), "67108865 bytes, more than"),
                                 (str(pipe), "no regular file")):
                for words, status in ([MPIEXEC, "--show-layout"], 126), ([weft, "sweep"], 2):
                    done = subprocess.run([*words, "--machine", machine], capture_output=True, text=True, timeout=60, check=False)
                    self.assertEqual(done.returncode, status, (words, machine, done.stderr))
                    self.assertIn(why, done.stderr)
                    self.assertIn("Remedy: ", done.stderr)
        self.assertIn("domain 1", self.layout("-n", "2", "--machine", "numa:2(memory=128GB) core:2 pu:16(indexes=2*16:1*2)"))

    def test_none_leaves_all(self):
        for share in self.sets("-n", "2", "--bind", "none").values():
            self.assertEqual(share, set(CPUS))

    def test_a_list_goes_to_ranks_in_turn(self):
        first, last = CPUS[0], CPUS[-1]
        self.assertEqual(self.sets("-n", "3", "--bind", f"{last}:{first}"), {0: {last}, 1: {first}, 2: {last}})
        self.assertEqual(self.sets("-n", "1", "--bind-to", str(last)), {0: {last}})

    def test_numa_domains(self):
        self.assertEqual(set().union(*self.sets("-n", "2", "--bind", "numa").values()), set(CPUS))

    def test_an_inherited_mask_is_respected(self):
        one = {CPUS[-1]}
        for words in (["-n", "1"], ["-n", "2"], ["-n", "2", "--bind", "none"]):
            for share in self.sets(*words, preexec_fn=lambda: os.sched_setaffinity(0, one)).values():
                self.assertEqual(share, one)

    def test_a_processor_that_is_not_ours_is_refused(self):
        done = mpiexec("--bind", "4000", "true")
        self.assertEqual(done.returncode, 126)
        self.assertIn("4000", done.stderr)

    def test_ranks_are_told_how_many_share_how_much(self):
        done = mpiexec("-n", "3", *sh("echo $WEFT_LOCAL_RANKS $WEFT_LOCAL_CPUS"))
        for line in done.stdout.splitlines():
            ranks, cpus = map(int, line.split())
            self.assertEqual(ranks, 3)
            self.assertTrue(1 <= cpus <= len(CPUS))


if __name__ == "__main__":
    unittest.main()
