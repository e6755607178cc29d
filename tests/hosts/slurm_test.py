#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Ranks of a Slurm of two hosts (slurm.sh, hosts.sh). WHERE is the program of where.c, MPI_TESTS the folder of tests/mpi's."""
import os
import pathlib
import subprocess
import unittest

HERE = pathlib.Path(__file__).resolve().parent
WHERE = os.environ["WHERE"]
MPI_TESTS = os.environ["MPI_TESTS"]


class Slurm(unittest.TestCase):
    def srun(self, *commands, status=0):
        """The output of commands in turn, each as words behind srun, up to the first that fails; what ends with this status."""
        folder = "/run/slurm"  # all hosts have one /run, which ends with them
        jobs = " && ".join("srun " + " ".join(words) for words in commands)
        script = f'"$0" up {folder} h1 h2 || exit; {jobs}; status=$?; "$0" down {folder}; exit $status'
        environment = {**os.environ, "SLURM_CONF": f"{folder}/slurm.conf"}
        done = subprocess.run([HERE / "hosts.sh", "2", "bash", "-c", script, HERE / "slurm.sh"], env=environment, timeout=100,
                              capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if done.returncode == 77:
            raise unittest.SkipTest(done.stderr.strip())
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def test_ranks_of_both_hosts_meet(self):
        for options in ("--mpi=pmi2", "--mpi=pmix", "--mpi=pmi2 --export=ALL,WEFT_LAUNCHER=pmi2"):
            with self.subTest(options):
                done = self.srun((options, "-N 2 --ntasks-per-node=2", WHERE), (options, "-N 2 -n 3", WHERE),
                                 (options, "-N 2 -n 2 -m cyclic", WHERE))
                self.assertEqual(sorted(done.stdout.splitlines()),
                                 sorted(["0 h1", "1 h1", "2 h2", "3 h2", "0 h1", "1 h1", "2 h2", "0 h1", "1 h2"]))

    def test_ring_and_allreduce(self):
        for mpi in ("pmi2", "pmix"):
            with self.subTest(mpi):
                programs = [os.path.join(MPI_TESTS, name) for name in ("mpi_p2p_sendrecv", "mpi_coll_reduce")]
                self.srun(*((f"--mpi={mpi} -N 2 -n 4", program) for program in programs))

    def test_ranks_spawn_processes(self):
        spawn = os.path.join(MPI_TESTS, "mpi_spawn")
        for mpi in ("pmi2", "pmix"):
            with self.subTest(mpi):
                self.srun((f"--mpi={mpi} -N 1 -n 2", spawn, "tree"), (f"--mpi={mpi} -N 2 -n 3", spawn, "meet"))

    def test_without_pmi_srun_is_named(self):
        done = self.srun(("--mpi=none -N 2 -n 2", WHERE), status=1)
        self.assertIn("Slurm's srun without PMI", done.stderr)


if __name__ == "__main__":
    unittest.main()
