#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""weft sweep: every layout and value is run as often as asked, the best comes first, kept runs are not repeated, wrong words."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

WEFT = os.path.join(os.environ["LAUNCH_BIN"], "weft")
# Rank 0 alone says how it was started; the figure is the value of a variable.
SCRIPT = """#!/bin/sh
[ "${WEFT_RANK:-${PMI_RANK:-0}}" = 0 ] || exit 0
echo "$OMP_NUM_THREADS $FIGURE" >>"$LOG"
echo "other 99"
echo "figure: $FIGURE units"
"""


class Sweep(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.program = self.folder / "program"
        self.program.write_text(SCRIPT, encoding="utf-8")
        self.program.chmod(0o755)
        self.log = self.folder / "log"
        self.log.touch()

    def sweep(self, *words, program=None):
        return subprocess.run([WEFT, "sweep", *words, "--", str(program or self.program)], capture_output=True, text=True,
                              timeout=120, check=False,
                              env={**os.environ, "LOG": str(self.log), "FIGURE": "1"})

    def table(self, *words):
        done = self.sweep("--json", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_each_case_is_run_as_often_as_asked(self):
        table = self.table("--layouts", "1x2,2x1", "--repeat", "2")
        self.assertEqual(sorted((c["ranks"], c["threads"], len(c["results"])) for c in table), [(1, 2, 2), (2, 1, 2)])
        self.assertEqual(sorted(line.split()[0] for line in self.log.read_text().splitlines()), ["1", "1", "2", "2"])

    def test_the_best_comes_first(self):
        words = ["--layouts", "1x1", "--set", "FIGURE=3,1,2", "--repeat", "1", "--metric", "figure: ([0-9.]+)"]
        self.assertEqual([c["results"] for c in self.table(*words)], [[1], [2], [3]])
        self.assertEqual([c["results"] for c in self.table(*words, "--more")], [[3], [2], [1]])

    def test_kept_runs_are_not_repeated(self):
        words = ["--layouts", "1x1", "--set", "FIGURE=5", "--metric", "figure: ([0-9.]+)", "--out", str(self.folder / "runs")]
        self.table(*words, "--repeat", "2")
        table = self.table(*words, "--repeat", "3")
        self.assertEqual(table[0]["results"], [5, 5, 5])
        self.assertEqual(len(self.log.read_text().splitlines()), 3)

    def test_auto_uses_all_processors(self):
        cpus = len(os.sched_getaffinity(0))
        for case in self.table("--repeat", "1"):
            self.assertEqual(case["ranks"] * case["threads"], cpus)

    def test_a_program_that_fails(self):
        done = self.sweep("--layouts", "1x1", "--repeat", "1", program="/bin/false")
        self.assertEqual(done.returncode, 1)
        self.assertIn("failed", done.stdout)
        done = self.sweep("--layouts", "1x1", "--repeat", "1", "--metric", "nothing ([0-9]+)")
        self.assertEqual(done.returncode, 1)
        self.assertIn("nothing in the program's output matches", done.stderr)

    def test_wrong_words(self):
        for words, message in ((["--layout", "1x1"], "no option"), (["--layouts", "1"], "--layouts wants"),
                               (["--set", "A"], "--set wants"), (["--repeat", "0"], "--repeat wants"),
                               (["--metric", "("], "--metric wants"), (["--metric", "x"], "--metric wants")):
            done = self.sweep(*words)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(message, done.stderr)
        done = subprocess.run([WEFT, "sweep"], capture_output=True, text=True, timeout=30, check=False)
        self.assertEqual((done.returncode, "no program" in done.stderr), (2, True))


if __name__ == "__main__":
    unittest.main()
