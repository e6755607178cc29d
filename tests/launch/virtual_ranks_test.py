#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Statistics of jobs of many ranks, which are made up (virtual_ranks.cpp): what a rank holds, and how large report and page
are, have bounds. LAUNCH_BIN is the folder of weft, VIRTUAL_RANKS the program."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

WEFT = os.path.join(os.environ["LAUNCH_BIN"], "weft")
LONGEST = 14 << 20  # bytes of a rank's report on its way: all lists are full
JSON, TEXT, PAGE = 8 << 20, 64 << 10, 1000000


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def job(self, ranks):
        name = self.folder / f"{ranks}.json"
        done = subprocess.run([os.environ["VIRTUAL_RANKS"], str(ranks), str(name)], capture_output=True, text=True, timeout=1400,
                              check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        said = json.loads(done.stdout)
        self.assertEqual(said["messages"], ranks - 1)
        self.assertLessEqual(said["held"], (ranks - 1).bit_length() + 1, "a tree, not a chain")
        self.assertLess(said["longest"], LONGEST)
        self.assertLess(said["json"], JSON)
        self.assertLess(said["text"], TEXT)
        report = json.loads(name.read_text())
        self.assertEqual((report["ranks"], report["counted_ranks"]), (ranks, ranks))
        self.assertEqual((report["outside"]["max_rank"], report["outside"]["max"]), (ranks - 1, 9))
        self.assertAlmostEqual(report["outside"]["mean"], (6 * (ranks - 1) + 9) / ranks, 6)
        calls = {c["call"]: c for c in report["calls"]}
        self.assertEqual(calls["MPI_Isend"]["calls"], 100 * ranks)
        self.assertEqual(sum(g["ranks"] for g in report["timeline"]["groups"]), ranks)
        return report, said, name

    def page(self, name):
        page = self.folder / "page.html"
        done = subprocess.run([WEFT, "report", str(name), "-o", str(page)], capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        text = page.read_text()
        self.assertLess(len(text), PAGE)
        return text


class Thousands(Case):
    def test_all_of_10_000_ranks_are_in_the_report(self):
        report, _, name = self.job(10000)
        self.assertEqual([r["rank"] for r in report["by_rank"]], list(range(10000)))
        self.assertEqual(report["matrix"]["ranks_per_host"], [128] * 78 + [16])
        self.assertEqual(len(report["matrix"]["bytes"]), 2 * (9999 + 9910 + 1900))
        self.assertEqual(report["machines"][0]["hosts"], list(range(0, 10000, 128)))
        text = self.page(name)
        self.assertIn("A bar is the mean of up to 79 ranks", text)
        self.assertIn("These are 2 of the 79 hosts", text)


class Hundreds_of_thousands(Case):
    def test_a_report_does_not_grow_with_the_ranks(self):
        """Lists that are full stay so: 700 000 ranks give messages and a report of the size that half as many give."""
        _, half, _ = self.job(350000)
        report, said, name = self.job(700000)
        self.assertLess(said["longest"], 1.05 * half["longest"])
        self.assertLess(said["json"], 1.05 * half["json"])
        self.assertLess(said["resident"], 600 << 20, "of all the ranks on the way down together, in one process")
        self.assertGreater(report["not_listed"], 0)
        self.assertEqual([r["rank"] for r in report["by_rank"]], list(range(0, 700000, 43)))
        self.assertIn("Of 700000 ranks 16280 are listed", self.page(name))


if __name__ == "__main__":
    unittest.main()
