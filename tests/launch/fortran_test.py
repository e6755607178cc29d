#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Statistics and weft why name the lines of a program of Fortran (tests/fortran/sites.f90), not the library between it and MPI.
LAUNCH_BIN is the folder of the programs, PROGRAMS the program in each ABI, SOURCE its source."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time
import unittest

import timing

BIN = pathlib.Path(os.environ["LAUNCH_BIN"])
PROGRAMS = os.environ["PROGRAMS"].split(":")
SOURCE = pathlib.Path(os.environ["SOURCE"])
LINES = {words: number for number, line in enumerate(SOURCE.read_text().splitlines(), 1) for words in re.findall("! ([a-z0-9_ ]+)$", line)}


@unittest.skipUnless(shutil.which("addr2line"), "there is no addr2line")
class Fortran(unittest.TestCase):
    def sites(self, program):
        """Calls by call of MPI and line."""
        with tempfile.TemporaryDirectory() as folder:
            report = pathlib.Path(folder, "report.json")
            done = subprocess.run([str(BIN / "mpiexec"), "-q", "--oversubscribe", "-n", "2", program], capture_output=True, text=True,
                                  timeout=timing.HANGS, check=False,
                                  env={**os.environ, "WEFT_STATS": "full", "WEFT_STATS_FILE": str(report)})
            self.assertEqual(done.returncode, 0, done.stderr)
            sites = json.loads(report.read_text())["sites"]
        found = {}
        for site in sites:
            name, offset = site["site"].rsplit(" ", 1)[-1].rsplit("+", 1)
            self.assertEqual(name, pathlib.Path(program).name[:60], site)
            said = subprocess.run(["addr2line", "-e", program, offset], capture_output=True, text=True, check=True).stdout
            line = int(re.search(r"sites\.f90:(\d+)", said)[1])
            found[site["call"], line] = found.get((site["call"], line), 0) + site["calls"]
        return found

    def test_call_sites_are_lines_of_the_program(self):
        for program in PROGRAMS:
            with self.subTest(program):
                found = self.sites(program)
                for call, times in (("irecv", 3), ("isend", 3), ("waitall", 3), ("barrier", 1)):
                    self.assertEqual(found.get((f"MPI_{call.capitalize()}", LINES[f"{call} of mpi"])), 2 * times, found)
                for call in ("irecv", "isend", "waitall", "allreduce"):
                    self.assertEqual(found.get((f"MPI_{call.capitalize()}", LINES[f"{call} of mpi_f08"])), 2 * 5, found)
                for which in ("first", "second"):
                    self.assertEqual(found.get(("MPI_Barrier", LINES[f"{which} barrier of mpi_f08"])), 2, found)

    def test_why_names_the_line(self):
        for program in PROGRAMS:
            with self.subTest(program):
                self.check_why(program)

    def check_why(self, program):
        job = subprocess.Popen([str(BIN / "mpiexec"), "-q", "--oversubscribe", "--timeout", "600", "-n", "2", program, "wait"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wanted = rf"MPI_Recv at \w+ \(sites\.f90:{LINES['never']}\)"
        said = ""
        try:
            until = time.monotonic() + timing.HANGS
            while not re.search(wanted, said):
                self.assertLess(time.monotonic(), until, said)
                self.assertIsNone(job.poll(), said)
                said = subprocess.run([str(BIN / "weft"), "why", str(job.pid)], capture_output=True, text=True, timeout=timing.HANGS,
                                      check=False).stdout
                time.sleep(0.2)
        finally:
            job.terminate()
            job.wait(timing.HANGS)


if __name__ == "__main__":
    unittest.main()
