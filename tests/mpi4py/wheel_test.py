#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""mpiexec without a setting leads PyPI's wheel of mpi4py to Weft, whichever MPI lies in its virtual environment.

wheel_test.py MPIEXEC PYTHON [MPI...]: PYTHON is the environment's, MPI are names of the libraries that its packages hold, one of
which mpi4py has to load without mpiexec; if there is no name, it has to load none.
"""
import os
import subprocess
import sys
import unittest

RANKS = 4
VERSION = """import mpi4py
mpi4py.rc.initialize = False
from mpi4py import MPI
print(MPI.Get_library_version().splitlines()[0])
"""
VERSIONS = "from mpi4py import MPI; print(MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size, MPI.Get_library_version().splitlines()[0])"


class Wheel(unittest.TestCase):
    def run_python(self, *words, launcher=()):
        plain = {k: v for k, v in os.environ.items() if not k.startswith(("LD_", "MPI4PY_", "PYTHON", "VIRTUAL_ENV", "WEFT_"))}
        done = subprocess.run([*launcher, python, *words], capture_output=True, text=True, timeout=200, stdin=subprocess.DEVNULL,
                              check=False, env=plain)
        print(done.stdout + done.stderr, flush=True)
        return done

    def lines_of_ranks(self, *words):
        done = self.run_python(*words, launcher=[mpiexec, "-n", str(RANKS)])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("another MPI", done.stderr)
        lines = sorted(done.stdout.splitlines())
        self.assertEqual(len(lines), RANKS, done.stdout)
        return lines

    def test_without_mpiexec_another_library_is_loaded_or_none(self):
        done = self.run_python("-c", VERSION)
        if libraries:
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue(done.stdout.startswith(libraries), done.stdout)
        else:
            self.assertNotEqual(done.returncode, 0, done.stdout)
            self.assertIn("cannot load MPI library", done.stderr)

    def test_ranks_are_of_one_job_on_weft(self):
        for rank, line in enumerate(self.lines_of_ranks("-c", VERSIONS)):
            self.assertTrue(line.startswith(f"{rank} {RANKS} Weft "), line)

    def test_helloworld(self):
        for rank, line in enumerate(self.lines_of_ranks("-m", "mpi4py.bench", "helloworld")):
            self.assertTrue(line.startswith(f"Hello, World! I am process {rank} of {RANKS} on "), line)


if __name__ == "__main__":
    mpiexec, python, *libraries = sys.argv[1:]
    libraries = tuple(libraries)
    unittest.main(argv=sys.argv[:1], verbosity=2)
