#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""`weft selftest` of an installed prefix: all is good there, and each fault of a copy is named.

selftest_test.py PREFIX
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

PREFIX = pathlib.Path(sys.argv[1])


def findings(prefix, *words, path="/usr/bin:/bin"):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("WEFT_", "LD_"))}
    done = subprocess.run([prefix / "bin/weft", "selftest", *words, "--json"], env={**env, "PATH": path}, capture_output=True,
                          text=True, timeout=120, check=False)
    return done.returncode, json.loads(done.stdout)["findings"]


class Selftest(unittest.TestCase):
    def test_an_installation_works(self):
        for words in ((), ("-n", "1"), ("-n", "7")):
            status, found = findings(PREFIX, *words)
            self.assertEqual((status, [f for f in found if f["grade"] == "bad"]), (0, []))
            self.assertGreater(len([f for f in found if f["state"] == "works"]), 8)

    def test_each_fault_is_named(self):
        with tempfile.TemporaryDirectory() as place:
            copy = pathlib.Path(place) / "weft"
            shutil.copytree(PREFIX, copy, symlinks=True, ignore=shutil.ignore_patterns("share", "include"))
            other = pathlib.Path(place) / "other.so"
            subprocess.run(["cc", "-shared", "-x", "c", "-o", other, "-"], input="int other;", text=True, check=True)
            shutil.copy(other, copy / "lib/mpich-abi/libmpi.so.12")
            shutil.copy(other, copy / "lib/libmpi.so.40")
            (copy / "libexec/weft/weft-selftest").unlink()
            front = pathlib.Path(place) / "front"
            front.mkdir()
            (front / "mpirun").write_text("#!/bin/sh\n")
            (front / "mpirun").chmod(0o755)
            status, found = findings(copy, path=f"{front}:/usr/bin:/bin")
            self.assertEqual(status, 1)
            bad = {f["subject"]: f["state"] for f in found if f["grade"] == "bad"}
            self.assertIn("status 127", bad.pop("a job of 4 ranks"))
            self.assertEqual(bad, {"programs of MPICH's ABI": f"{copy}/lib/mpich-abi/libmpi.so.12 is not Weft's",
                                   "lib": f"{copy}/lib/libmpi.so.40 is another MPI's"})
            self.assertIn(("another mpirun", f"{front}/mpirun"), [(f["subject"], f["state"]) for f in found])

            doctor = subprocess.run([copy / "bin/weft", "doctor"], capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(doctor.returncode, 1)
            self.assertIn(f"{copy}/lib/libmpi.so.40 is another MPI's", doctor.stdout)

    def test_wrong_words_are_refused(self):
        for words in (("-n",), ("-n", "0"), ("-n", "x"), ("--what",)):
            done = subprocess.run([PREFIX / "bin/weft", "selftest", *words], capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn("Remedy", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + ["-v"])
