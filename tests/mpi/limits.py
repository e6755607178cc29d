#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""What a job says and does where the system gives too little: a message with cause and remedy, never a signal."""

import os
import resource
import subprocess
import sys
import unittest

MPIEXEC = os.environ.get("LIMITS_MPIEXEC", "")
PROGRAM = os.environ.get("LIMITS_PROGRAM", "")
MEMORY = os.environ.get("LIMITS_MEMORY", "")


def run(command, limits=(), **environment):
    def lower():
        for what, value in limits:
            resource.setrlimit(what, (value, value))

    return subprocess.run(command, capture_output=True, text=True, timeout=60, preexec_fn=lower,
                          env={**os.environ, **environment})


class Limits(unittest.TestCase):
    def assert_explained(self, done, *words):
        self.assertNotEqual(done.returncode, 0)
        self.assertLess(done.returncode, 128, f"ended by a signal: {done.stderr}")
        for word in ("Remedy:", *words):
            self.assertIn(word, done.stderr)

    def test_file_size_limit_is_named(self):
        done = run([MPIEXEC, "-n", "2", PROGRAM], [(resource.RLIMIT_FSIZE, 1 << 16)])
        self.assert_explained(done, "ulimit -f")

    def test_too_little_address_space_is_named(self):
        # Enough for the program and its libraries, not for rings of 64 MiB.
        done = run([MPIEXEC, "-n", "2", PROGRAM], [(resource.RLIMIT_AS, 60 << 20)], WEFT_RING_BYTES="64M")
        self.assert_explained(done, "memory")

    def test_limited_address_space_is_the_programs(self):
        for gib, malloc_mib in ((4, 1 << 10), (8, 2 << 10), (34, 11 << 10)):
            with self.subTest(limit=f"{gib} GiB"):
                done = run([MPIEXEC, "-n", "2", MEMORY, str(malloc_mib)], [(resource.RLIMIT_AS, gib << 30)])
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_full_dev_shm_is_no_hindrance(self):
        if os.geteuid() != 0 or subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode != 0:
            self.skipTest("needs root, to mount a small /dev/shm that only this test sees")
        script = ("mount -t tmpfs -o size=64k none /dev/shm && "
                  "dd if=/dev/zero of=/dev/shm/full bs=64k count=1 2>/dev/null; exec \"$@\"")
        done = run(["unshare", "-m", "sh", "-c", script, "sh", MPIEXEC, "-n", "2", PROGRAM])
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    sys.exit(unittest.main())
