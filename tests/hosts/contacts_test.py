#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""When connections between hosts are made, and the message where a rank has no descriptor for one: it waits for one for 20
seconds (contacts.c)."""
import os
import subprocess
import sys
import tempfile
import unittest

import mpiexec


class Contacts(unittest.TestCase):
    def run_job(self, setting, *arguments):
        hydra = os.environ["HYDRA"]
        if not os.access(hydra, os.X_OK):
            self.skipTest(f"there is no Hydra at {hydra}")
        with tempfile.TemporaryDirectory(dir=os.getcwd()) as folder:
            done = subprocess.run([*mpiexec.command(hydra, 2, 2, [setting]), os.environ["CONTACTS"], folder, *arguments],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=100, check=False)
        if done.returncode == 77:
            self.skipTest("there are no namespaces here")
        return done

    def test_the_first_message_makes_the_connection(self):
        for choice in "first", "start":
            done = self.run_job(f"WEFT_CONNECT={choice}")
            self.assertEqual(done.returncode, 0, done.stdout)
            self.assertEqual(done.stdout.count("sockets at the start"), 2, done.stdout)

    def test_too_few_descriptors(self):
        done = self.run_job("WEFT_CONNECT=first", "few")
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stdout, "on another host, cannot be delivered: Too many open files. Remedy: raise the limit of "
                         "open files .ulimit -n.: a rank needs one for each rank of another host that it talks to, and a "
                         "second one for datagrams and windows, on each lane that threads use")


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
