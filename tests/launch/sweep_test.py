#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""weft sweep: every layout and value is run as often as asked, the best comes first, kept runs are not repeated, slow
layouts are told a better one, wrong words."""
import errno
import json
import os
import pathlib
import pty
import subprocess
import tempfile
import unittest
import xml.dom.minidom

WEFT = os.path.join(os.environ["LAUNCH_BIN"], "weft")
# Rank 0 alone says how it was started; the figure is the value of a variable.
SCRIPT = """#!/bin/sh
[ "${WEFT_RANK:-${PMI_RANK:-0}}" = 0 ] || exit 0
echo "$OMP_NUM_THREADS $FIGURE" >>"$LOG"
echo "other 99"
echo "figure: $FIGURE units"
"""


def everything(terminal):
    """Returns what was written to the other side of a terminal, which is closed: the kernel hands it over piece by piece."""
    said = b""
    try:
        while piece := os.read(terminal, 10000):
            said += piece
    except OSError as error:  # this is the end of a terminal
        assert error.errno == errno.EIO, error
    return said.decode()


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

    def table(self, *words, returncode=0):
        done = self.sweep("--json", *words)
        self.assertEqual(done.returncode, returncode, done.stderr)
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
        self.assertIn(cpus, {case["ranks"] * case["threads"] for case in self.table("--repeat", "1")})
        # With several hardware threads to a core, also one of each core.
        table = self.table(*self.MACHINE, "--layouts", "auto")
        self.assertEqual([case["case"] for case in table], ["16x1", "8x2", "4x4", "2x8", "1x16", "8x1", "4x2", "2x4", "1x8"])

    def test_the_plot_has_a_bar_for_each_case_the_best_first(self):
        plot = self.folder / "plot.svg"
        self.table("--layouts", "1x1", "--set", "FIGURE=3,<1>,2", "--repeat", "2", "--metric", "figure: ([0-9.]+)", "--plot", str(plot),
                   returncode=1)
        picture = xml.dom.minidom.parse(str(plot))
        texts = [text.firstChild.data for text in picture.getElementsByTagName("text")]
        self.assertEqual(texts, [f"{self.program}: metric", "1x1 FIGURE=2", "2 (100 %)", "1x1 FIGURE=3", "3 (67 %)", "1x1 FIGURE=<1>", "no result"])
        widths = [float(bar.getAttribute("width")) for bar in picture.getElementsByTagName("rect")[1:]]
        self.assertAlmostEqual(widths[0] / widths[1], 2 / 3, 2)

    def test_progress_is_shown_on_a_terminal_alone(self):
        words = [WEFT, "sweep", "--layouts", "1x1", "--repeat", "2", "--", str(self.program)]
        ours, theirs = pty.openpty()
        self.addCleanup(os.close, ours)
        environment = {**os.environ, "LOG": str(self.log), "FIGURE": "1"}
        subprocess.run(words, stdout=subprocess.DEVNULL, stderr=theirs, timeout=120, check=True, env=environment)
        os.close(theirs)
        said = everything(ours)
        self.assertIn("[" + 20 * " " + "] 1 of 2: 1x1", said)
        self.assertIn("[" + 10 * "#" + 10 * " " + "] 2 of 2: 1x1", said)
        self.assertEqual(subprocess.run(words, capture_output=True, text=True, timeout=120, check=True, env=environment).stderr, "")

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "one processor cannot be shared out")
    def test_bindings_are_those_of_the_ranks(self):
        self.program.write_text("#!/bin/sh\n[ $WEFT_RANK = 1 ] || exit 0\nenv -u OMP_NUM_THREADS nproc\n", encoding="utf-8")
        table = self.table("--layouts", "2x1", "--bindings", "none,core", "--repeat", "1", "--metric", "^([0-9]+)$")
        processors = {c["case"]: c["results"][0] for c in table}
        self.assertEqual(processors["2x1 none"], len(os.sched_getaffinity(0)))
        self.assertLess(processors["2x1"], processors["2x1 none"])

    MACHINE = ("--machine", "numa:2 l3:2 core:2 pu:2")

    def test_all_layouts_of_another_machine_less_those_placed_alike(self):
        table = self.table(*self.MACHINE, "--layouts", "all")
        self.assertEqual({c["ranks"] * c["threads"] for c in table}, {16, 8, 4, 2, 1})
        self.assertEqual(len(table), 5 + 4 + 3 + 2 + 1)
        table = self.table(*self.MACHINE, "--layouts", "8x1,1x4,2x2,1x8", "--bindings", "core,pack,none")
        self.assertEqual([c["case"] for c in table], ["8x1", "8x1 none", "1x4", "1x4 pack", "1x4 none", "2x2", "2x2 pack",
                                                      "2x2 none", "1x8", "1x8 none"])
        self.assertEqual(self.log.read_text(), "", "nothing runs")
        done = self.sweep(*self.MACHINE, "--layouts", "1x4", "--bindings", "core,pack")
        self.assertRegex(done.stdout, r"(?m)^1x4 +- +4 +4 +2$")
        self.assertRegex(done.stdout, r"(?m)^1x4 pack +- +4 +2 +1$")

    def advice(self, runs, *words):
        out = self.folder / "kept"
        lines = [json.dumps({"command": str(self.program), "case": case, "result": value})
                 for case, values in runs.items() for value in values]
        out.write_text("\n".join(lines), encoding="utf-8")
        layouts = ",".join(dict.fromkeys(case.split()[0] for case in runs))
        done = self.sweep(*self.MACHINE, "--layouts", layouts, "--bindings", "core,pack", "--out", str(out), "--metric", "(x)",
                          *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.split("\n\n", 1)[1].splitlines()

    def test_slow_layouts_are_told_a_better_one(self):
        runs = {"8x1": [100, 99], "1x8": [70, 70], "4x1": [98, 98], "1x4": [97, 97], "1x4 pack": [50, 50], "1x1": [25, 25]}
        best = [
            "best: mpiexec -n 8 --threads 1 (100 %, on 8 of 8 cores, 4 of 4 caches, 2 of 2 NUMA domains)",
            "as good with fewer: mpiexec -n 4 --threads 1 (98 %, on 4 of 8 cores, 4 of 4 caches, 2 of 2 NUMA domains)",
        ]
        worse = {
            "1x8": ("70 %, on 8 of 8 cores, 4 of 4 caches, 2 of 2 NUMA domains",
                    "-n 8 --threads 1 (100 %, on 8 of 8 cores, 4 of 4 caches, 2 of 2 NUMA domains)"),
            "1x4 pack": ("50 %, on 4 of 8 cores, 2 of 4 caches, 1 of 2 NUMA domains",
                         "-n 1 --threads 4 (97 %, on 4 of 8 cores, 4 of 4 caches, 2 of 2 NUMA domains)"),
            "1x1": ("25 %, on 1 of 8 cores, 1 of 4 caches, 1 of 2 NUMA domains",
                    "-n 4 --threads 1 (98 %, on 4 of 8 cores, 4 of 4 caches, 2 of 2 NUMA domains)"),
        }
        lines = [line for name, (gets, more) in worse.items() for line in (f"{name} gets {gets}", f"  more: mpiexec {more}")]
        self.assertEqual(self.advice(runs, "--more"), best + lines)
        inverse = {case: [1000 / value for value in values] for case, values in runs.items()}
        self.assertEqual(self.advice(inverse), best + lines, "times: less is better")

    def test_a_packed_layout_that_is_better_is_told(self):
        told = self.advice({"1x4": [60, 60], "1x4 pack": [100, 100]}, "--more")
        self.assertEqual(told[0].split(" (")[0], "best: mpiexec -n 1 --threads 4 --bind pack")
        self.assertEqual(told[1].split(",")[0], "1x4 gets 60 %")

    def test_a_difference_within_the_spread_is_none(self):
        self.assertEqual(len(self.advice({"8x1": [100, 100], "1x8": [80, 80]}, "--more")), 3)
        self.assertEqual(len(self.advice({"8x1": [100, 100], "1x8": [60, 100]}, "--more")), 1)
        self.assertEqual(len(self.advice({"8x1": [100, 100], "1x8": [96, 96]}, "--more")), 1)

    def test_a_program_that_fails(self):
        done = self.sweep("--layouts", "1x1", "--repeat", "1", program="/bin/false")
        self.assertEqual(done.returncode, 1)
        self.assertIn("failed", done.stdout)
        done = self.sweep("--layouts", "1x1", "--repeat", "1", "--metric", "nothing ([0-9]+)")
        self.assertEqual(done.returncode, 1)
        self.assertIn("nothing in the program's output matches", done.stderr)

    def test_a_program_that_cannot_run_is_started_once(self):
        text = self.folder / "text"
        text.touch()
        for program in ("/nowhere/program", text):
            done = self.sweep("--layouts", "1x1,2x1,1x2", program=program)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertEqual(done.stderr.count("weft: mpiexec: "), 1, done.stderr)
            self.assertIn("no other layout is run", done.stderr)

    def test_wrong_words(self):
        for words, message in ((["--layout", "1x1"], "no option"), (["--layouts", "1"], "--layouts wants"),
                               (["--set", "A"], "--set wants"), (["--repeat", "0"], "--repeat wants"),
                               (["--metric", "("], "--metric wants"), (["--metric", "x"], "--metric wants"),
                               (["--layouts", "99999x1"], "--layouts wants"), (["--bindings", "core,best"], "--bindings wants"),
                               (["--bindings", ""], "--bindings wants"), (["--bindings", "0-1"], "--bindings wants"),
                               (["--machine", "nowhere"], "neither a file")):
            done = self.sweep(*words)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(message, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, "one line, without the usage")
        done = subprocess.run([WEFT, "sweep"], capture_output=True, text=True, timeout=30, check=False)
        self.assertEqual((done.returncode, "no program" in done.stderr), (2, True))


if __name__ == "__main__":
    unittest.main()
