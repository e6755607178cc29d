#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Rows of MPICH's test suite, whose sources are not part of this project (docs/measurements/conformance.md#mpichs-test-suite).

mpich_suite.py --fetch FOLDER
    puts the suite there, out of Debian's source package mpich, by apt.
mpich_suite.py FOLDER --build BUILD [--openmpi INCLUDE [--no-pie]] [--moved LAYER] [--quick] [--rows REGEX] [--limit S]
               [--jobs N] DIRECTORY...
    compiles the programs of these directories with Weft's header and runs the rows of their lists with BUILD's mpiexec.
    --openmpi: the programs are compiled with Open MPI's header, which lies in this folder, and linked with BUILD's
    libmpi.so.40; position independent as the compiler makes them by default, or at fixed addresses (--no-pie). A program that
    names what this header lacks is not applicable.
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
MESSAGES = "compares a message with MPI_REQUEST_NULL, which is MPI_MESSAGE_NULL in MPICH's ABI alone"
INTEGERS = "keeps handles of datatypes in an array of int, which is MPICH's own ABI"
EXPECTED = {  # rows that do not pass
    "pt2pt/scancel": CANCELS, "pt2pt/scancel2": CANCELS, "pt2pt/pscancel": CANCELS, "pt2pt/scancel_unmatch": CANCELS,
    "datatype/typename": "wants other names of the same handles (MPI_C_COMPLEX, MPI_LONG_LONG_INT) and MPI_INTEGER16",
    "coll/oplxor": "wants MPI_LXOR of floating-point numbers, which MPI does not define (MPI-5.0, 6.9.2)",
    "coll/nonblocking2": INTEGERS, "coll/nonblocking3": INTEGERS,
    "part/nonblocking_pready": "sends no elements of MPI_DATATYPE_NULL, which is not a datatype",
    "topo/cartsuball": "wants MPI_COMM_NULL where no dimension is kept; it is a communicator of none (MPI-5.0, 8.5.7)",
    "attr/attrerrtype": "sets the error handler of MPI_COMM_WORLD; since MPI-4.0 that of MPI_COMM_SELF is asked (MPI-5.0, 9.3)",
    "init/version": "wants the version of Open MPI's header, 3.1; MPI_Get_version says 5.0",
    "threads/pt2pt/mt_improbe_sendrecv": MESSAGES, "threads/pt2pt/mt_improbe_isendrecv": MESSAGES,
    "threads/pt2pt/mt_improbe_sendrecv_huge": MESSAGES,
}
REMOVED = "calls MPI_Errhandler_set, which MPI-3.0 removed"
NOT_BUILT = {
    "coll/opprod": REMOVED, "coll/opsum": REMOVED, "errhan/adderr": "calls MPIX_Delete_error_string and others of MPICH alone",
    "datatype/pack_external": "handles are no integers, which its switch wants",
    "io/async": "names MPIO_Request, which the standard ABI does not have",
}
LARGE = "moves gigabytes"
LEFT_OUT = {  # rows that do not run
    "pt2pt/large_message": LARGE, "coll/gather_big": LARGE, "coll/coll_large": "wants 20 GB and more",
    "init/timeout": "never ends, which a launcher with a time limit has to notice",
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


class Standard:
    """Programs of the standard ABI, compiled with Weft's header."""

    def __init__(self, build):
        self.runtime = build / "src/libmpi_abi.so"
        self.out = build / "mpich_suite"
        self.flags = ["-w", f"-I{ROOT}/include", f"-I{build}/include"]
        # dtpools calls these by the names that MPI-3.0 removed.
        self.renamed = [f"-DMPI_Type_{name}=MPI_Type_create_{name}" for name in ("hvector", "hindexed", "struct")]

    def lacks(self, _log):
        return None


class OpenMpi:
    """Programs of Open MPI's ABI, compiled with its header, which declares what MPI-3.0 removed where it is asked to."""

    def __init__(self, build, include, pie):
        self.runtime = build / "src/openmpi-abi/libmpi.so.40"
        text = (include / "mpi.h").read_text()
        version = ".".join(re.search(rf"define OMPI_{part}_VERSION (\d+)", text).group(1) for part in ("MAJOR", "MINOR", "RELEASE"))
        self.out = build / f"mpich_suite.openmpi-{version}{'' if pie else '.no-pie'}"
        # With -w, functions that the header lacks were no errors.
        self.flags = [f"-I{include}", "-DOMPI_OMIT_MPI1_COMPAT_DECLS=0", "-D__mpi_interface_removed__(x,y)=",
                      "-Werror=implicit-function-declaration", *(["-fPIE", "-pie"] if pie else ["-fno-pie", "-no-pie"])]
        self.renamed = []

    def lacks(self, log):
        """The name that the header does not have, if that is why a program was not built."""
        found = re.search(r"(?:implicit declaration of function|unknown type name) '(P?MPIX?_\w+)|'(MPIX?_\w+)' undeclared", log)
        return found and (found.group(1) or found.group(2))


class Suite:
    def __init__(self, folder, build, abi):
        self.folder, self.build, self.abi, self.out = folder, build, abi, abi.out
        out = self.out
        self.flags = ["-O1", f"-I{out}/include", f"-I{folder}/include", f"-I{folder}/dtpools/include", *abi.flags]
        (out / "include").mkdir(parents=True, exist_ok=True)
        configuration = out / "include/mpitestconf.h"
        if not configuration.exists() or configuration.read_text() != CONFIGURATION:
            configuration.write_text(CONFIGURATION)
            (out / "dtpoolsconf.h").write_text(CONFIGURATION)
            (out / "include/mtest_mpix.h").write_text("")  # MPICH's own functions: none
        self.common = [self.compiled(folder / "util" / name, "util") for name in ("mtest.c", "mtest_common.c", "dtypes.c")]
        self.threads = self.compiled(folder / "util/mtest_thread.c", "util")
        self.single = self.compiled(folder / "util/mtest_single.c", "util")
        # In newer versions many programs have no main() of their own.
        main_of_all = folder / "util/run_mpitests.c"
        self.main_of_all = self.compiled(main_of_all, "util") if main_of_all.exists() else None
        self.common += [self.compiled(source, "dtpools", abi.renamed) for source in sorted((folder / "dtpools/src").glob("*.c"))]

    def compiled(self, source, name, flags=()):
        made = self.out / name / (source.stem + ".o")
        made.parent.mkdir(parents=True, exist_ok=True)
        if not made.exists() or made.stat().st_mtime < source.stat().st_mtime:
            subprocess.run(["cc", *self.flags, *flags, "-c", source, "-o", made], check=True, stderr=subprocess.DEVNULL)
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
        command = ["cc", *self.flags, *flags, *sources, *common, self.abi.runtime,
                   f"-Wl,-rpath,{self.abi.runtime.parent}:{self.build}/src", "-lm", "-lpthread", "-o", made]
        built = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False,
                               env=dict(os.environ, LC_ALL="C"))
        if built.returncode != 0:
            made.unlink(missing_ok=True)
            (self.out / directory / (name + ".log")).write_text(built.stderr)
            return None
        return made

    def rows(self, directory):
        """(program, ranks, arguments, whether its status shall not be 0) of the directory's list, each once."""
        lists = [path for path in (self.folder / directory / name for name in ("testlist.in", "testlist")) if path.exists()]
        if not lists:
            sys.exit(f"mpich_suite.py: {self.folder / directory} has no testlist: name a directory of the suite that has one")
        found = {}
        for line in lists[0].read_text().splitlines():
            words = shlex.split(re.sub("^@[a-z_]*@", "", line.strip()), comments=True)
            if len(words) < 2 or "/" in words[0] or not words[1].isdigit() or "strict=FALSE" in words:
                continue
            arguments = tuple(word[4:] for word in words[2:] if word.startswith("arg="))
            fails = "resultTest=TestStatus" in words or "resultTest=TestErrFatal" in words
            found.setdefault((words[0], int(words[1]), arguments, fails), None)
        return list(found)


# These rows take longer than the others with at most four ranks.
SLOW = re.compile(r"^(pt2pt/(sendflood|sendself|sendrecv1|pingping|huge_|many|large)|coll/(allredmany|.*(large|big)|nonblocking|"
                  r"allgatherv4|bcasttest)|datatype/(lots_of|darray|sendrecvt|large|async))")


def run(suite, options, directory, row):
    """The verdict on a row and what it printed."""
    name, ranks, arguments, fails = row
    program = suite.program(directory, name)
    if program is None:
        log = (suite.out / directory / (name + ".log")).read_text()
        lacking = suite.abi.lacks(log)
        return ("not applicable", lacking) if lacking else ("not built", log)
    environment = dict(os.environ)
    moved = []
    if options.moved:
        moved = ["-genv", "WEFT_DEVICES", "mock", "-genv", "LD_PRELOAD", options.moved]
    # Programs ask MPI_UNIVERSE_SIZE whether they may spawn.
    room = ["--universe", "600"] if "spawn" in directory else []
    command = [suite.build / "bin/mpiexec", "--oversubscribe", *room, "-n", str(ranks), *moved, program, *arguments]
    # Programs with files give them the same names; those that spawn look for programs beside their own.
    with tempfile.TemporaryDirectory() as scratch, \
         subprocess.Popen(command, cwd=scratch if directory.endswith("io") else program.parent, env=environment,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace") as job:
        try:
            output, _ = job.communicate(timeout=options.limit)
        except subprocess.TimeoutExpired:
            job.send_signal(signal.SIGTERM)
            output, _ = job.communicate()
            return "late", output
    passed = job.returncode != 0 if fails else job.returncode == 0 and re.search("No [Ee]rrors", output)
    return ("pass" if passed else "fail"), output


def main():
    parser = argparse.ArgumentParser(usage=__doc__.replace("%", "%%"))
    parser.add_argument("--fetch", metavar="FOLDER", type=pathlib.Path)
    parser.add_argument("folder", nargs="?", type=pathlib.Path)
    parser.add_argument("directories", nargs="*")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--openmpi", metavar="INCLUDE", type=pathlib.Path)
    parser.add_argument("--no-pie", action="store_true")
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
    if options.openmpi and not (options.openmpi / "mpi.h").exists():
        print(f"no mpi.h of Open MPI in {options.openmpi}: tools/dev/launchers.sh openmpi")
        return 77
    abi = OpenMpi(build, options.openmpi.resolve(), not options.no_pie) if options.openmpi else Standard(build)
    suite = Suite(options.folder.resolve(), build, abi)
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
            if verdict == "not applicable":
                print(f"{verdict}: {directory}/{row[0]} {row[1]}: the header has no {output}", flush=True)
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
