#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Fortran programs of MPICH's suite, compiled and linked with Debian's Open MPI, run on Weft (docs/measurements/conformance.md#open-mpis-abi).

mpich_fortran_suite.py SUITE DEBIAN --build BUILD DIRECTORY...
    runs the rows of the lists in these directories of SUITE (mpich_suite.py --fetch), which are f77, f90, f08 or folders below
    them, with BUILD's mpiexec; DEBIAN/root has Debian's libopenmpi-dev and libopenmpi3 (debian.py --fetch). Ends with 0 if all
    passed but those that tests/suites/mpich_fortran.txt names, with 77 if the suite, Open MPI or gfortran is not there.
"""
import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

import mpich_suite

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIMIT = 100  # seconds, of a row
SYSTEM = "root/usr/lib/x86_64-linux-gnu"  # where Debian has libraries
LIBRARIES = ("libmpi_usempif08.so.40", "libmpi_usempi_ignore_tkr.so.40", "libmpi_mpifh.so.40", "libmpi.so.40")


class Suite:
    """The suite's sources, and what is made from them in the folder out."""

    def __init__(self, folder, debian, out):
        self.folder, self.system, self.out = folder, debian / SYSTEM, out
        (out / "include").mkdir()
        (out / "include/mpitestconf.h").write_text(mpich_suite.CONFIGURATION + "#define F77_NAME_LOWER_USCORE 1\n")
        (out / "include/mtest_mpix.h").write_text("")  # MPICH's own functions: none
        for template in (folder / "f77").glob("*/*.h.in"):
            text = re.sub("@F77_MPI_(ADDRESS|OFFSET)@", "integer*8", template.read_text())
            (out / "include" / template.stem).write_text(text)
        for language in ("f77", "f90", "f08"):
            self.make_io(language)
        modules = next((self.system / "fortran").glob("gfortran-mod-*")) / "openmpi"
        # Some sources include "../../include/mpitestconf.h", which is found from f77/io.
        places = [out / "include", out / "f77/io", folder / "include", self.system / "openmpi/include", folder / "dtpools/include"]
        self.c = ["gcc", "-w", *(f"-I{place}" for place in places)]
        self.fortran = ["gfortran", *self.c[1:], f"-I{modules}", "-fallow-argument-mismatch", "-fcray-pointer"]
        sources = {"c": ("mtest.c", "mtest_common.c", "mtest_single.c", "dtypes.c"),
                   "f77": ["mtest_f77.f"], "f90": ["mtest_f90.f90"], "f08": ["mtest_f08.f90"]}
        self.helpers = {language: [self.compiled(folder / "util" / name, out) for name in names]
                        for language, names in sources.items()}

    def make_io(self, language):
        """Makes the programs iwrite* and write* of io, as the suite's Makefile does."""
        made = self.out / language / "io"
        made.mkdir(parents=True)
        for name in ("ioharness.defn", "ioharness.tlt"):
            text = (self.folder / ("f08" if language == "f08" else "f77") / "io" / name).read_text()
            if language == "f90" and name.endswith("defn"):
                text = re.sub(r'filename="(.*)f\.f"', r'filename="\1f90.f90"', text)
                text = re.sub("include.*iooffset.*", "integer (kind=MPI_OFFSET_KIND)offset", text)
            elif language == "f90":
                text = re.sub("include.*mpif.*", "use mpi", text).replace("fheader", "f90header")
                text = re.sub("implicit *none", "", re.sub("^C", "!", text, flags=re.M))
            (made / name).write_text(text)
        merger = (self.folder / "maint/testmerge.in").read_text().replace("@PERL@", "perl")
        subprocess.run(["perl", "-", f"-defn={self.folder}/maint/common.defn", "ioharness.defn", "ioharness.tlt"], cwd=made,
                       input=merger, text=True, check=True, stdout=subprocess.DEVNULL)

    def compiled(self, source, place):
        made = place / (source.name + ".o")
        compiler = self.c if source.suffix == ".c" else [*self.fortran, f"-J{place}"]
        subprocess.run([*compiler, f"-I{source.parent}", "-c", source, "-o", made], check=True, capture_output=True, text=True)
        return made

    def program(self, directory, name):
        """The program, or what the compiler says if it cannot be built."""
        place = self.out / directory / (name + ".made")  # its own folder, since files of many have the same names
        place.mkdir(parents=True, exist_ok=True)
        named = re.search(rf"^{name}_SOURCES *= *(.+)", (self.folder / directory / "Makefile.am").read_text(), re.M)
        names = named.group(1).split() if named else [name + (".f" if directory.startswith("f77") else ".f90")]
        # The suite's Makefile makes some sources, and copies some of f08 from f90.
        folders = (self.folder / directory, self.out / directory, self.folder / directory.replace("f08", "f90"))
        sources = [next(folder / one for folder in folders if (folder / one).exists()) for one in names]
        language = "c" if all(one.endswith(".c") for one in names) else directory[:3]
        try:
            objects = [self.compiled(source, place) for source in sources]
            subprocess.run(["gfortran", *objects, *self.helpers[language], "-Wl,--allow-shlib-undefined",
                            *(self.system / library for library in LIBRARIES), "-o", place / name], check=True,
                           capture_output=True, text=True)
        except subprocess.CalledProcessError as error:
            return error.stderr
        return place / name

    def rows(self, directory):
        """(directory, program, ranks, arguments) of the directory's list, each once."""
        lists = [self.folder / directory / name for name in ("testlist.in", "testlist")]
        text = next(one for one in lists if one.exists()).read_text()
        text = text.replace("@ALLOCMEMFC@", "allocmemf90 1").replace("@ALLOCMEMF@", "allocmemf 1")
        return list(dict.fromkeys((directory, *row) for row in re.findall(r"^(?:@\w+@)?(\w+) +(\d+)(?: +arg=(\S+))?", text, re.M)))


def run(program, row, build):
    """The verdict on a row and what it printed."""
    if isinstance(program, str):
        return "not built", program
    command = [build / "bin/mpiexec", "--oversubscribe", "--universe", "64", "-n", row[2], program, *row[3].split()]
    with subprocess.Popen(command, cwd=program.parent, env=dict(os.environ, LD_LIBRARY_PATH=f"{build}/src/openmpi-abi"),
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace") as job:
        try:
            output, _ = job.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            job.send_signal(signal.SIGTERM)
            return "late", job.communicate()[0]
    return ("pass" if job.returncode == 0 and re.search("No [Ee]rrors", output) else "fail"), output


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("suite", type=pathlib.Path)
    parser.add_argument("debian", type=pathlib.Path)
    parser.add_argument("directories", nargs="*")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    options = parser.parse_intermixed_args()
    folder, debian, build = (path.resolve() for path in (options.suite, options.debian, options.build))
    if not (folder / "util/mtest_f08.f90").exists() or not (debian / SYSTEM / LIBRARIES[0]).exists() or not shutil.which("gfortran"):
        print(f"no gfortran, no suite in {folder} (tools/dev/mpich_suite.py --fetch) or no Open MPI in {debian} (debian.py --fetch)")
        return 77
    lists = sorted(path.parent for given in options.directories for path in (folder / given).rglob("Makefile.am"))
    expected = dict(re.findall(r"^(f\S+): (.+)", (ROOT / "tests/suites/mpich_fortran.txt").read_text(), re.M))
    counts, wrong = collections.defaultdict(collections.Counter), 0
    with tempfile.TemporaryDirectory(dir=build) as out, concurrent.futures.ThreadPoolExecutor(2) as workers:
        suite = Suite(folder, debian, pathlib.Path(out))
        rows = [row for place in lists for row in suite.rows(str(place.relative_to(folder)))]
        wanted = sorted({row[:2] for row in rows})
        programs = dict(zip(wanted, workers.map(lambda one: suite.program(*one), wanted)))
        for row, (verdict, output) in zip(rows, workers.map(lambda row: run(programs[row[:2]], row, build), rows)):
            counts[row[0]][verdict] += 1
            reason = expected.get(f"{row[0]}/{row[1]}")
            if verdict != "pass":
                wrong += reason is None
                print(f"{verdict}: {row[0]}/{row[1]} {row[2]}: {reason or 'NOT EXPECTED' + chr(10) + output[-2000:]}", flush=True)
    for directory, verdicts in counts.items():
        print(f"{directory}: {verdicts.total()} rows, " + ", ".join(f"{n} {verdict}" for verdict, n in sorted(verdicts.items())))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
