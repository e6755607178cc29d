#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Rows of MPICH's test suite, whose sources are not part of this project (docs/conformance.md#mpichs-test-suite).

mpich_suite.py --fetch FOLDER
    puts the suite there, out of Debian's source package mpich, by apt.
mpich_suite.py FOLDER --build BUILD [--moved LAYER] [--quick] [--rows REGEX] [--limit S] [--jobs N] DIRECTORY...
    compiles the programs of these directories with Weft's header and runs the rows of their lists with BUILD's mpiexec.
    --moved: the buffers of each call are moved into the mock device's memory by this layer (tests/mpi/device_layer).
    --quick: rows of at most four ranks that take less than a second or two. Rows that differ in settings of MPICH alone
    are one. Ends with 0 if all rows passed but those that EXPECTED and NOT_BUILT name; 77: there is no suite in FOLDER.
    Settings of Weft's, such as WEFT_PROGRESS=thread, come from the environment.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]

CANCELS = "a send that is complete when the call returns is not cancelled (MPI-5.0, 3.8.4); MPICH's list expects it too"
INTEGERS = "keeps handles of datatypes in an array of int, which is MPICH's own ABI"
EXPECTED = {  # rows that do not pass
    "pt2pt/scancel": CANCELS, "pt2pt/scancel2": CANCELS, "pt2pt/pscancel": CANCELS, "pt2pt/scancel_unmatch": CANCELS,
    "datatype/typename": "wants other names of the same handles (MPI_C_COMPLEX, MPI_LONG_LONG_INT) and MPI_INTEGER16",
    "coll/oplxor": "wants MPI_LXOR of floating-point numbers, which MPI does not define (MPI-5.0, 6.9.2)",
    "coll/nonblocking2": INTEGERS, "coll/nonblocking3": INTEGERS,
}
REMOVED = "calls MPI_Errhandler_set, which MPI-3.0 removed"
NOT_BUILT = {
    "coll/opprod": REMOVED, "coll/opsum": REMOVED,
    "datatype/pack_external": "handles are no integers in the standard ABI, which its switch wants",
}
LARGE = "moves gigabytes"
LEFT_OUT = {  # rows that do not run
    "pt2pt/large_message": LARGE, "coll/gather_big": LARGE, "coll/coll_large": "wants 20 GB and more",
    "datatype/large_type_sendrec": LARGE, "datatype/large_vec": LARGE, "datatype/large_type": LARGE, "datatype/large_count": LARGE,
}
# The findings of the suite's configure on Linux.
CONFIGURATION = """
#define HAVE_DOUBLE__COMPLEX 1
#define HAVE_FLOAT__COMPLEX 1
#define HAVE_GETRUSAGE 1
#define HAVE_INTTYPES_H 1
#define HAVE_LONG_DOUBLE 1
#define HAVE_LONG_DOUBLE__COMPLEX 1
#define HAVE_LONG_LONG 1
#define HAVE_MPI_IO 1
#define HAVE_MPI_SPAWN 1
#define HAVE_MPI_WIN_CREATE 1
#define HAVE_PTHREAD_H 1
#define HAVE_STDARG_H 1
#define HAVE_STDINT_H 1
#define HAVE_STDLIB_H 1
#define HAVE_STRDUP 1
#define HAVE_STRINGS_H 1
#define HAVE_STRING_H 1
#define HAVE_SYS_RESOURCE_H 1
#define HAVE_SYS_STAT_H 1
#define HAVE_SYS_TIME_H 1
#define HAVE_SYS_TYPES_H 1
#define HAVE_UNISTD_H 1
#define HAVE_USLEEP 1
#define HAVE__BOOL 1
#define POINTERINT_t unsigned long
#define SIZEOF_INT 4
#define SIZEOF_LONG 8
#define SIZEOF_LONG_LONG 8
#define SIZEOF_MPI_OFFSET 8
#define SIZEOF_SHORT 2
#define SIZEOF_VOID_P 8
#define STDC_HEADERS 1
#define THREAD_PACKAGE_NAME THREAD_PACKAGE_POSIX
#define THREAD_PACKAGE_POSIX 1
"""


def fetch(folder):
    """Debian's source package by apt, with lists and a cache of its own: the machine's need not name sources."""
    if (folder / "util/mtest.c").exists():
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as name:
        place = pathlib.Path(name)
        (place / "lists/partial").mkdir(parents=True)
        (place / "cache/archives/partial").mkdir(parents=True)
        (place / "sources.list").write_text("deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] "
                                            "http://deb.debian.org/debian bookworm main\n")
        apt = ["apt-get", "-q", "-o", f"Dir::Etc::SourceList={place}/sources.list", "-o", "Dir::Etc::SourceParts=-",
               "-o", f"Dir::State::Lists={place}/lists",
               "-o", f"Dir::Cache={place}/cache", "-o", "APT::Sandbox::User=root"]
        subprocess.run([*apt, "update"], cwd=place, check=True, stdout=subprocess.DEVNULL)
        subprocess.run([*apt, "source", "--download-only", "mpich"], cwd=place, check=True, stdout=subprocess.DEVNULL)
        archive, = place.glob("mpich_*.orig.tar.*")
        subprocess.run(["tar", "-xf", archive, "--wildcards", "--strip-components=1", "*/test/mpi/*"], cwd=place, check=True)
        (place / "test/mpi").rename(folder)


class Suite:
    def __init__(self, folder, build, out):
        self.folder, self.build, self.out = folder, build, out
        self.flags = ["-O1", "-w", f"-I{out}/include", f"-I{folder}/include", f"-I{folder}/dtpools/include",
                      f"-I{ROOT}/include", f"-I{build}/include"]
        (out / "include").mkdir(parents=True, exist_ok=True)
        configuration = out / "include/mpitestconf.h"
        if not configuration.exists() or configuration.read_text() != CONFIGURATION:
            configuration.write_text(CONFIGURATION)
            (out / "dtpoolsconf.h").write_text(CONFIGURATION)
            (out / "include/mtest_mpix.h").write_text("")  # MPICH's own functions: none
        self.common = [self.compiled(folder / "util" / name, "util") for name in ("mtest.c", "mtest_common.c", "dtypes.c")]
        self.threads = self.compiled(folder / "util/mtest_thread.c", "util")
        self.single = self.compiled(folder / "util/mtest_single.c", "util")
        # Of newer versions, in which many programs have no main() of their own.
        main_of_all = folder / "util/run_mpitests.c"
        self.main_of_all = self.compiled(main_of_all, "util") if main_of_all.exists() else None
        # It calls these by the names that MPI-3.0 removed.
        names = [f"-DMPI_Type_{name}=MPI_Type_create_{name}" for name in ("hvector", "hindexed", "struct")]
        self.common += [self.compiled(source, "dtpools", names) for source in sorted((folder / "dtpools/src").glob("*.c"))]

    def compiled(self, source, name, flags=()):
        made = self.out / name / (source.stem + ".o")
        made.parent.mkdir(parents=True, exist_ok=True)
        if not made.exists() or made.stat().st_mtime < source.stat().st_mtime:
            subprocess.run(["cc", *self.flags, *flags, "-c", source, "-o", made], check=True)
        return made

    def program(self, directory, name):
        """The program, or None if it cannot be built."""
        made = self.out / directory / name
        if made.exists():
            return made
        text = (self.folder / directory / "Makefile.am").read_text()
        sources = re.search(rf"^{name}_SOURCES\s*=\s*(.+)", text, re.M)
        sources = [self.folder / directory / source for source in (sources.group(1).split() if sources else [name + ".c"])
                   if source.endswith(".c")]
        flags = re.search(rf"^{name}_CPPFLAGS\s*=\s*(.*)", text, re.M)
        flags = [f for f in (flags.group(1).split() if flags else []) if f.startswith("-D")]
        made.parent.mkdir(parents=True, exist_ok=True)
        common = [*self.common, self.threads if directory.startswith("threads") else self.single]
        if self.main_of_all and not any(re.search(r"\bmain *\(", path.read_text()) for path in sources if path.exists()):
            common.append(self.main_of_all)
        command = ["cc", *self.flags, *flags, *sources, *common, self.build / "src/libmpi_abi.so",
                   f"-Wl,-rpath,{self.build}/src", "-lm", "-lpthread", "-o", made]
        built = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
        if built.returncode != 0:
            made.unlink(missing_ok=True)
            (self.out / directory / (name + ".log")).write_text(built.stderr)
            return None
        return made

    def rows(self, directory):
        """(program, ranks, arguments) of the directory's list, each once."""
        lists = [path for path in (self.folder / directory / name for name in ("testlist.in", "testlist")) if path.exists()]
        if not lists:
            sys.exit(f"mpich_suite.py: {self.folder / directory} has no testlist: name a directory of the suite that has one")
        found = {}
        for line in lists[0].read_text().splitlines():
            words = shlex.split(re.sub("^@[a-z_]*@", "", line.strip()), comments=True)
            if len(words) < 2 or "/" in words[0] or not words[1].isdigit() or "strict=FALSE" in words:
                continue
            arguments = tuple(word[4:] for word in words[2:] if word.startswith("arg="))
            found.setdefault((words[0], int(words[1]), arguments), None)
        return list(found)


# Of the rows with at most four ranks these take longer.
SLOW = re.compile(r"^(pt2pt/(sendflood|sendself|sendrecv1|pingping|huge_|many|large)|coll/(allredmany|.*(large|big)|nonblocking|"
                  r"allgatherv4|bcasttest)|datatype/(lots_of|darray|sendrecvt|large|async))")


def run(suite, options, directory, row):
    """The verdict on a row and what it printed."""
    name, ranks, arguments = row
    program = suite.program(directory, name)
    if program is None:
        return "not built", (suite.out / directory / (name + ".log")).read_text()
    environment = dict(os.environ)
    moved = []
    if options.moved:
        moved = ["-genv", "WEFT_DEVICES", "mock", "-genv", "LD_PRELOAD", options.moved]
    command = [suite.build / "bin/mpiexec", "--oversubscribe", "-n", str(ranks), *moved, program, *arguments]
    with subprocess.Popen(command, cwd=program.parent, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace") as job:
        try:
            output, _ = job.communicate(timeout=options.limit)
        except subprocess.TimeoutExpired:
            job.send_signal(signal.SIGTERM)
            output, _ = job.communicate()
            return "late", output
    return ("pass" if job.returncode == 0 and re.search("No [Ee]rrors", output) else "fail"), output


def main():
    parser = argparse.ArgumentParser(usage=__doc__.replace("%", "%%"))
    parser.add_argument("--fetch", metavar="FOLDER", type=pathlib.Path)
    parser.add_argument("folder", nargs="?", type=pathlib.Path)
    parser.add_argument("directories", nargs="*")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--moved")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rows", default="")
    parser.add_argument("--limit", type=float, default=180)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_intermixed_args()
    if options.fetch:
        return fetch(options.fetch.resolve())
    if not (options.folder / "util/mtest.c").exists():
        print(f"no suite of MPICH in {options.folder}: tools/dev/mpich_suite.py --fetch {options.folder}")
        return 77
    build = options.build.resolve()
    suite = Suite(options.folder.resolve(), build, build / "mpich_suite")
    rows = [(directory, row) for directory in options.directories for row in suite.rows(directory)
            if re.search(options.rows, f"{directory}/{row[0]} {row[1]}") and f"{directory}/{row[0]}" not in LEFT_OUT
            and not (options.quick and (row[1] > 4 or SLOW.match(f"{directory}/{row[0]}")))]
    counts, wrong = {}, 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as workers:
        # Programs first: rows of one program would build it twice.
        list(workers.map(lambda one: suite.program(*one), sorted({(directory, row[0]) for directory, row in rows})))
        results = workers.map(lambda one: run(suite, options, *one), rows)
        for (directory, row), (verdict, output) in zip(rows, results):
            counts.setdefault(directory, {}).setdefault(verdict, 0)
            counts[directory][verdict] += 1
            if verdict == "pass":
                continue
            reason = (NOT_BUILT if verdict == "not built" else EXPECTED).get(f"{directory}/{row[0]}")
            wrong += reason is None
            print(f"{verdict}: {directory}/{row[0]} {row[1]} {' '.join(row[2])}: {reason or 'NOT EXPECTED'}", flush=True)
            if reason is None:
                print("    " + output[-2000:].replace("\n", "\n    "), flush=True)
    for directory, verdicts in counts.items():
        print(f"{directory}: {sum(verdicts.values())} rows, " + ", ".join(f"{n} {verdict}" for verdict, n in sorted(verdicts.items())))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
