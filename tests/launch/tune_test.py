#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""weft tune, the files it writes, and ranks that would choose other algorithms. LAUNCH_BIN: the programs' folder; PROGRAM: an
MPI program that does collectives; HYDRA: Hydra's mpiexec, for two hosts of namespaces."""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

BIN = pathlib.Path(os.environ["LAUNCH_BIN"])
PROGRAM = os.environ["PROGRAM"]
HOSTS = pathlib.Path(__file__).resolve().parents[1] / "hosts"
DIFFER = "would choose other algorithms"


class Tuning:
    """The tests; RANKS and WHERE say where jobs run."""

    RANKS = "2"
    WHERE = []
    HOST_COUNT = 1

    def run_program(self, name, *words, **settings):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("WEFT_")}
        return subprocess.run([str(BIN / name), *words], capture_output=True, text=True, timeout=100, check=False,
                              env={**environment, "WEFT_SPIN": "0", **settings})

    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir=os.getcwd())  # hosts of namespaces have a /tmp of their own
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def mpiexec_hosts(self):
        return ["-hosts", self.WHERE[1]] if self.WHERE else ["--oversubscribe"]

    def test_quick_tune_writes_a_file_that_loads(self):
        path = self.folder / "table.json"
        done = self.run_program("weft", "tune", "--quick", "-n", self.RANKS, *self.WHERE, "--out", str(path),
                                WEFT_BCAST_ALGORITHM="nonsense")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"{self.RANKS} ranks on {self.HOST_COUNT} host", done.stdout)
        table = json.loads(path.read_text())
        self.assertEqual(table["weft_tuning"], 1)
        entries = [entry for row in table["rows"] for entry in row["measured"]]
        entries += [entry["measured"] for entry in table["measured"]["unchanged"]]
        told = {name for entry in entries for name in entry["us"]}
        self.assertLessEqual({"flat", "tree", "split", "bruck", "ring", "pairwise", "root", "doubling", "direct"}, told)
        self.assertEqual("leaders" in told, self.HOST_COUNT > 1)
        for entry in entries:
            self.assertIn(entry["default"], entry["us"])
            self.assertGreater(min(entry["us"].values()), 0)
        for row in table["rows"]:
            self.assertEqual(row["ranks"], [1, int(self.RANKS)])
            self.assertEqual(row["hosts"], self.HOST_COUNT)
        self.assertGreater(table["measured"]["model"]["local_overhead"], 0)
        self.assertEqual("overhead" in table["measured"]["model"], self.HOST_COUNT > 1)
        done = self.run_program("weft", "simulate", "--coll", "barrier", "--ranks", "64", "--measured", str(path))
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.run_program("mpiexec", "-n", self.RANKS, *self.mpiexec_hosts(), PROGRAM, WEFT_TUNING=str(path))
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_what_is_measured_is_not_measured_again(self):
        path = self.folder / "table.json"
        words = ["tune", "--quick", "-n", self.RANKS, *self.WHERE, "--only", "barrier,scan", "--out", str(path)]
        done = self.run_program("weft", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"measuring with {self.RANKS} ranks: scan, 2 of 2", done.stderr)
        partial = path.with_name("table.json.partial")
        self.assertFalse(partial.exists())
        entry = json.loads(path.read_text())["measured"]
        head = f"weft tune {entry['by'].split()[-1]} quick {self.WHERE[1] if self.WHERE else ''}\n"
        part = f"# {self.RANKS} barrier\njob {self.RANKS} {self.HOST_COUNT}\nbarrier 0 flat 1 1 1\nbarrier 0 dissemination 5 5 5\n.\n"
        partial.write_text(head + part + f"# {self.RANKS} scan\njob")  # stopped in the midst of a scan
        done = self.run_program("weft", *words, "--resume", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, path.read_text())
        self.assertNotIn("barrier, 1 of 2", done.stderr)
        self.assertIn("scan, 2 of 2", done.stderr)
        self.assertIn('"dissemination": 5', path.read_text())
        partial.write_text("weft tune 0.0.0 full \n")
        done = self.run_program("weft", *words, "--resume")
        self.assertEqual(done.returncode, 1)
        self.assertIn("is of another command or version. Remedy: leave out --resume to begin again", done.stderr)

    def test_ranks_that_differ_end_the_job_with_one_message(self):
        other = ["-env", "WEFT_ALLREDUCE_ALGORITHM", "split"]
        done = self.run_program("mpiexec", *self.mpiexec_hosts(), "-n", "2", PROGRAM, ":", "-n", "2", *other, PROGRAM)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stderr.count(DIFFER), 1, done.stderr)
        self.assertIn("Remedy: give all ranks the same settings", done.stderr)
        done = self.run_program("mpiexec", *self.mpiexec_hosts(), "-n", "2", *other, PROGRAM, ":", "-n", "2", *other, PROGRAM)
        self.assertEqual(done.returncode, 0, done.stderr)


class Here(Tuning, unittest.TestCase):
    def test_a_broken_file_is_named_with_its_line(self):
        path = self.folder / "broken.json"
        path.write_text('{"weft_tuning": 1, "rows": [\n  {"collective": "bcast",\n   "algorithm": "treee"}]}\n')
        done = self.run_program("mpiexec", "--oversubscribe", "-n", "3", PROGRAM, WEFT_TUNING=str(path))
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stderr.count("cannot be used"), 1, done.stderr)
        self.assertIn('line 3, cannot be used: "treee" is no algorithm of bcast: it has shared, leaders, tree, split', done.stderr)
        done = self.run_program("mpiexec", "-n", "1", PROGRAM, WEFT_TUNING="/no/such/file")
        self.assertIn('"/no/such/file" cannot be read: No such file or directory', done.stderr)

    def test_other_files_on_ranks_differ(self):
        paths = [self.folder / "a.json", self.folder / "b.json"]
        for path, algorithm in zip(paths, ("tree", "split")):
            path.write_text(json.dumps({"weft_tuning": 1, "rows": [{"collective": "bcast", "algorithm": algorithm}]}))
        both = [["-n", "1", "-env", "WEFT_TUNING", str(path), PROGRAM] for path in paths]
        done = self.run_program("mpiexec", *both[0], ":", *both[1])
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stderr.count(DIFFER), 1, done.stderr)
        done = self.run_program("mpiexec", *both[0], ":", *both[0])
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_mistakes_are_said(self):
        for words, what in ((["-n", "1"], "out of range: 2"), (["-n", "x"], "not a whole number"), (["--only", "bcst"], "bcst"),
                            (["--fast"], "not known"), (["--out"], "needs a value")):
            done = self.run_program("weft", "tune", *words)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(what, done.stderr)
        done = self.run_program("weft", "tune", "--quick", "-n", "2", "--only", "barrier", "--out", "/no/such/folder/x")
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot be written", done.stderr)

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "one processor: two ranks have no core each")
    def test_messages_of_a_device_in_chunks_and_a_file_that_jobs_take(self):
        path = self.folder / "devices.json"
        done = self.run_program("weft", "tune", "--devices", "--quick", "--out", str(path), WEFT_DEVICES="mock")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"(?m)^ *262144 +[\d.]+ +[\d.]+ +[\d.]+ +(16384|32768|65536|131072) +[124]$")
        self.assertRegex(done.stdout, r"(?m)^WEFT_DEVICE_MAP_FROM[=:]")
        table = json.loads(path.read_text())
        self.assertGreater(len(table["devices"]), 0)
        self.assertNotIn("bytes", table["devices"][-1])
        job = ["--oversubscribe", "-n", "2", PROGRAM]
        self.assertEqual(self.run_program("mpiexec", *job, WEFT_TUNING=str(path), WEFT_DEVICES="mock").returncode, 0)
        table["devices"][-1]["depth"] = 9
        path.write_text(json.dumps(table))
        done = self.run_program("mpiexec", *job, WEFT_TUNING=str(path), WEFT_DEVICES="mock")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn('a row of "devices" has no "depth" from 1 to 8 chunks', done.stderr)

    def test_no_device_to_tune_for_is_told(self):
        done = self.run_program("weft", "tune", "--devices", "--out", str(self.folder / "x"), WEFT_DEVICES="off")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("there is no device to measure: WEFT_DEVICES is off", done.stderr)


class Paths(unittest.TestCase):
    """Times of messages by each path: that they are measured and told, not which is the best."""

    def weft(self, *words, **settings):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("WEFT_")}
        return subprocess.run([str(BIN / "weft"), *words], capture_output=True, text=True, timeout=100, check=False,
                              env={**environment, **settings})

    def expect_table(self, done):
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = re.findall(r"(?m)^ *(\d+) +(-|[\d.]+) +([\d.]+) +([\d.]+)   (E1|R0|R1)$", done.stdout)
        self.assertEqual([int(row[0]) for row in rows], [9216, *(16384 << i for i in range(9))])
        for size, e1, r0, r1, best in rows:
            self.assertEqual(e1 == "-", int(size) > 128 << 10)
            times = {"E1": float("inf" if e1 == "-" else e1), "R0": float(r0), "R1": float(r1)}
            self.assertEqual(times[best], min(times.values()))

    def expect_crossing(self, done):
        self.assertRegex(done.stdout, r"(?m)^A cache line takes \d+ ns from one core to the other .*: they are (near|far), like cores ")
        self.assertRegex(done.stdout, r"(?m)^Copies are loops of .+\.$")
        self.assertIn("Cells: a rank has 256 staging buffers of 8 KiB; chunks have 8 KiB to 32 KiB.\n", done.stdout)
        ways = re.findall(r"(?m)^  (.+?) +(cells|kernel): (.+) take ([\d.]+) us by cells and ([\d.]+) us by the kernel$", done.stdout)
        self.assertEqual([way[0::2][:2] for way in ways], [("up to 128 KiB", "64 KiB"), ("up to 512 KiB", "256 KiB"),
                                                          ("up to 2 MiB", "1 MiB"), ("larger", "4 MiB")])
        for _, way, _, cells, kernel in ways:
            if cells != kernel:
                self.assertEqual(way, "cells" if float(cells) < float(kernel) else "kernel")

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "one processor: two ranks have no core each")
    def test_messages_by_each_path_and_the_settings_that_suit(self):
        done = self.weft("tune", "--paths", "--quick", WEFT_EAGER_LIMIT="0", WEFT_CROSSING="kernel")
        self.expect_table(done)
        self.expect_crossing(done)
        self.assertIn("  WEFT_CROSSING=kernel is set here and forces that way for all sizes.\n", done.stdout)
        self.assertRegex(done.stdout, r"(?m)^WEFT_CROSSING=auto .*; (cells|kernel) is the better one to force$")
        self.assertRegex(done.stdout, r"(?m)^WEFT_EAGER_LIMIT=(0|9216|16384|32768|65536|131072) ")

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "one processor: two ranks have no core each")
    def test_the_paths_as_json(self):
        done = self.weft("tune", "--paths", "--quick", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        answer = json.loads(done.stdout)
        self.assertEqual([size["bytes"] for size in answer["sizes"]], [9 << 10] + [16384 << i for i in range(9)])
        self.assertGreater(min(size["R0"] for size in answer["sizes"]), 0)
        self.assertGreater(answer["line_ns"], 0)
        self.assertEqual(answer["distance"], "near" if answer["line_ns"] <= 130 else "far")
        self.assertNotEqual(answer["routine"], "")
        self.assertEqual(answer["cells"], {"buffer_bytes": 8192, "buffers": 256, "shared": False, "least_chunk": 8192,
                                           "most_chunk": 32768})
        self.assertEqual([way["sizes"] for way in answer["ways"]], ["up to 128 KiB", "up to 512 KiB", "up to 2 MiB", "larger"])
        by_size = {size["bytes"]: size for size in answer["sizes"]}
        for way in answer["ways"]:
            self.assertEqual((way["cells"], way["kernel"]), (by_size[way["bytes"]]["R1"], by_size[way["bytes"]]["R0"]))
            self.assertEqual(way["way"], "cells" if way["cells"] <= way["kernel"] else "kernel")
        self.assertEqual(answer["WEFT_CROSSING"], "auto")
        self.assertIn(answer["way_to_force"], ("cells", "kernel"))

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "one processor: two ranks have no core each")
    def test_the_paths_between_two_processors(self):
        a, b = sorted(os.sched_getaffinity(0))[:2]
        done = self.weft("info", "--paths", "--between", f"{a},{b}")
        self.expect_table(done)
        self.assertIn(f"Processors {a} and {b} share, as the kernel says:", done.stdout)
        self.expect_crossing(done)
        self.assertNotIn("is set here", done.stdout)

    def test_wrong_processors_are_told(self):
        for words in ("tune", "--paths", "--between", "0"), ("info", "--between", "0,x"), ("info", "--between", "1,1"):
            done = self.weft(*words)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn("is no pair of processors. Remedy: write it as in --between 0,1", done.stderr)
        done = self.weft("info", "--between", "0,4095")
        self.assertEqual(done.returncode, 1)
        self.assertIn("4095", done.stderr)


@unittest.skipUnless(os.access(os.environ.get("HYDRA", ""), os.X_OK), "HYDRA names no launcher that is here")
class Hosts(Tuning, unittest.TestCase):
    RANKS = "4"
    WHERE = ["--hosts", "h1,h2"]
    HOST_COUNT = 2

    def run_program(self, name, *words, **settings):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("WEFT_")}
        settings = {"WEFT_REMOTE_LAUNCHER": os.environ["HYDRA"], "WEFT_RSH": str(HOSTS / "rsh"), "WEFT_SPIN": "0", **settings}
        done = subprocess.run([str(HOSTS / "hosts.sh"), "2", str(BIN / name), *words], capture_output=True, text=True,
                              timeout=150, check=False, env={**environment, **settings})
        if done.returncode == 77:
            raise unittest.SkipTest(done.stderr.strip())
        return done


if __name__ == "__main__":
    unittest.main()
