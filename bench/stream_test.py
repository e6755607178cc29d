#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""stream: arrays are right for every layout, every thread is shown, memory of both kinds, one message for wrong options."""
import os
import re
import subprocess
import unittest

MPIEXEC, STREAM = os.environ["MPIEXEC"], os.environ["STREAM"]
OPENMP = os.environ["OPENMP"] == "1"
KERNELS = ("copy", "scale", "add", "triad")


def stream(ranks, threads, *words, **more):
    return subprocess.run([MPIEXEC, "--oversubscribe", "-n", str(ranks), "--threads", str(threads), STREAM, *words],
                          capture_output=True, text=True, timeout=60, check=False, env={**os.environ, **more})


class Stream(unittest.TestCase):
    def measured(self, ranks, threads, *words, **more):
        done = stream(ranks, threads, "--quick", *words, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("\ncontents: right\n", done.stdout)
        for kernel in KERNELS:
            best, median = re.search(rf"(?m)^{kernel} +([0-9.]+) +([0-9.]+)$", done.stdout).groups()
            self.assertGreaterEqual(float(best), float(median))
            self.assertGreater(float(median), 0)
        return done.stdout

    def test_every_layout_is_right_and_shows_its_threads(self):
        for ranks in (1, 2, 4):
            for threads in (1, 2):
                with self.subTest(ranks=ranks, threads=threads):
                    told = threads if OPENMP else 1
                    out = self.measured(ranks, threads)
                    self.assertIn(f"stream: {ranks} x {told} ranks x threads", out)
                    places = re.findall(r"(?m)^rank \d+ on \S+:(.*)$", out)
                    self.assertEqual([len(re.findall(r"cpu \d+ node \d+", line)) for line in places], [told] * ranks)

    def test_parts_that_are_not_equal(self):
        self.measured(3, 2, "--bytes=800024")
        for ranks, threads, size in ((1, 2, "16"), (3, 1, "32")):
            done = stream(ranks, threads, f"--bytes={size}", "--times=1")
            self.assertEqual((done.returncode, "contents: right" in done.stdout), (0, True), done.stderr)

    def test_memory_of_the_library_says_its_kind(self):
        out = self.measured(2, 1, "--memory=mpi", WEFT_ALLOC_MEM_AFFINITY="0")
        self.assertIn("from MPI_Alloc_mem", out)
        self.assertIn("weft_mem_nodes 0\n", out)

    def test_a_wrong_option_is_one_message(self):
        for word, why in (("--byte=1", "is none of"), ("--bytes=x", "wants bytes"), ("--bytes=1T", "wants bytes"),
                          ("--bytes=99999999999999G", "wants bytes"), ("--times=0", "from 1 to 1000"),
                          ("--times=1001", "from 1 to 1000"), ("--memory=", "is none of"), ("x", "is none of")):
            done = stream(2, 1, word)
            self.assertEqual(done.returncode, 2, word)
            told = [line for line in done.stderr.splitlines() if line.startswith("stream: ")]
            self.assertEqual(len(told), 1, done.stderr)
            self.assertTrue(word in told[0] and why in told[0], told)
        done = stream(2, 2 if OPENMP else 1, "--bytes=8")
        self.assertEqual((done.returncode, done.stderr.count("too small")), (2, 1))


if __name__ == "__main__":
    unittest.main()
