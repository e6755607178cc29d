#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""weft crowd: so many copies run at once and so often, a copy that fails, wrong words."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

WEFT = os.path.join(os.environ["LAUNCH_BIN"], "weft")
# Copies of a turn wait until all of them are there: none ends before the others have begun.
SCRIPT = """#!/bin/sh
echo $$ >>"$LOG"
[ "$(wc -l <"$LOG")" -le 2 ] && exit 0
until [ "$(wc -l <"$LOG")" -ge 5 ]; do sleep 0.01; done
"""


class Crowd(unittest.TestCase):
    def crowd(self, *words):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder, "program")
            program.write_text(SCRIPT, encoding="utf-8")
            program.chmod(0o755)
            log = pathlib.Path(folder, "log")
            log.touch()
            words = [str(program) if word == "PROGRAM" else word for word in words]
            done = subprocess.run([WEFT, "crowd", *words], capture_output=True, text=True, timeout=100, check=False,
                                  env={**os.environ, "LOG": str(log)})
            return done, log.read_text(encoding="utf-8").splitlines()

    def test_copies_run_at_once_and_as_often_as_asked(self):
        done, pids = self.crowd("-n", "3", "--repeat", "2", "--json", "--", "PROGRAM")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(pids), 2 + 2 * 3)
        result = json.loads(done.stdout)
        self.assertEqual((result["copies"], result["repeat"]), (3, 2))
        for part in ("alone", "at_once"):
            self.assertGreater(result[part]["slowest"], 0)
            self.assertGreaterEqual(result[part]["deviation"], 0)
        self.assertIsInstance(result["contended"], list)
        self.assertIsInstance(result["noisy"], bool)
        self.assertGreaterEqual(result["spread"], 0)

    def test_the_table(self):
        done, _ = self.crowd("-n", "2", "--repeat", "1", "--", "true")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"(?s)2 copies at once, 1 times.*\nalone +[0-9.]+.*\nat once +[0-9.]+.*One run tells nothing of the noise")

    def test_a_copy_that_fails_ends_it_with_the_copy_s_last_words(self):
        done, _ = self.crowd("--", "sh", "-c", "echo last words; exit 4")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r'a copy of "sh" ended with status 4; the end of its output:\nlast words')

    def test_a_program_that_is_not_there(self):
        done, _ = self.crowd("--", "/nowhere/program")
        self.assertEqual(done.returncode, 1)
        self.assertIn("No such file or directory (errno 2)", done.stderr)

    def test_wrong_words(self):
        for words in (["-n", "0", "--", "true"], ["-n", "x", "--", "true"], ["-n"], ["--more", "--", "true"], ["-n", "2"],
                      []):
            with self.subTest(words=words):
                done, _ = self.crowd(*words)
                self.assertEqual(done.returncode, 2)
                self.assertRegex(done.stderr, "^weft: crowd: .*Remedy")


if __name__ == "__main__":
    unittest.main()
