#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Dynamic processes of jobs on one host that another launcher has started: HYDRA of MPICH, INTEL_HYDRA, PRTERUN of Open MPI.
SPAWN, CONNECT and TWO_JOBS are the programs of tests/mpi, which check everything themselves; LAUNCH_BIN is the folder of Weft's
mpiexec."""
import os
import subprocess
import tempfile
import unittest

import pmi1
import timing

SPAWN, CONNECT, TWO_JOBS = (os.environ[name] for name in ("SPAWN", "CONNECT", "TWO_JOBS"))
MPIEXEC = os.path.join(os.environ["LAUNCH_BIN"], "mpiexec")
MODES = ("meet", "stay", "tree", "multiple", "info", "errors", "again")


def launcher(variable):
    return unittest.skipUnless(os.access(os.environ.get(variable, ""), os.X_OK), f"there is no {variable}: see tools/dev/launchers.sh")


class Under:
    """`start()` gives the words in front of a program for so many ranks; `settings`: what they find in their environment."""
    settings = {}

    def start(self, ranks):
        raise NotImplementedError

    def environment(self):
        return pmi1.clean(PRTE_ALLOW_RUN_AS_ROOT="1", PRTE_ALLOW_RUN_AS_ROOT_CONFIRM="1", **self.settings)

    def run_job(self, ranks, *words):
        done = subprocess.run([*self.start(ranks), *words], capture_output=True, text=True, timeout=timing.HANGS,
                              env=self.environment(), stdin=subprocess.DEVNULL, check=False)
        return done.returncode, done.stdout + done.stderr

    def test_parents_and_children_meet(self):
        for ranks in (1, 2, 3):
            for mode in MODES if ranks == 2 else ("meet", "tree"):
                with self.subTest(ranks=ranks, mode=mode):
                    self.assertEqual(self.run_job(ranks, SPAWN, mode), (0, ""))

    def test_processes_meet_at_ports(self):
        self.assertEqual(self.run_job(3, CONNECT), (0, ""))

    def test_a_child_that_dies_takes_its_parents_along(self):
        status, said = self.run_job(2, SPAWN, "death")
        self.assertNotEqual(status, 0, said)
        self.assertRegex(said, r"rank 1 of spawned world 1 .*was killed by signal 6 .*; the job is ended")

    def test_a_child_that_dies_alone_leaves_its_parents(self):
        status, said = self.run_job(2, SPAWN, "death_alone")
        self.assertEqual(status, 0, said)
        self.assertIn("the parents went on", said)

    def test_a_job_of_mpiexec_connects(self):
        with tempfile.TemporaryDirectory() as folder, open(os.path.join(folder, "errors"), "w+") as errors:
            server = subprocess.Popen([*self.start(2), TWO_JOBS, "serve", "1"], stdout=subprocess.PIPE, stderr=errors, text=True,
                                      env=self.environment(), stdin=subprocess.DEVNULL)
            with server:
                for line in server.stdout:
                    if line.startswith("port "):
                        break
                client = subprocess.run([MPIEXEC, "--oversubscribe", "-n", "2", TWO_JOBS, "connect", "1", line.split()[1]],
                                        capture_output=True, text=True, timeout=timing.HANGS, env=pmi1.clean(),
                                        stdin=subprocess.DEVNULL, check=False)
                if client.returncode != 0:
                    server.kill()
                rest = server.stdout.read()
            errors.seek(0)
            self.assertEqual((client.returncode, server.returncode), (0, 0), client.stderr + rest + errors.read())


@launcher("HYDRA")
class Hydra(Under, unittest.TestCase):
    def start(self, ranks):
        return [os.environ["HYDRA"], "-n", str(ranks)]


@launcher("HYDRA")
class HydraPmi2(Hydra):
    settings = {"WEFT_LAUNCHER": "pmi2"}


@launcher("INTEL_HYDRA")
class IntelHydra(Under, unittest.TestCase):
    def start(self, ranks):
        return [os.environ["INTEL_HYDRA"], "-n", str(ranks)]


@launcher("PRTERUN")
class Prterun(Under, unittest.TestCase):
    def start(self, ranks):
        return [os.environ["PRTERUN"], "--map-by", ":OVERSUBSCRIBE", "-n", str(ranks)]


if __name__ == "__main__":
    unittest.main()
