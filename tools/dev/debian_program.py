# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""A program that debian.py runs, and judgements that several of them share."""
import collections.abc
import dataclasses
import pathlib
import re

SOURCES = pathlib.Path(__file__).resolve().parents[2] / "tests/suites"  # inputs, and programs that are compiled for Debian's MPI


@dataclasses.dataclass
class Program:
    file: pathlib.Path  # prepare makes it if it is relative
    ranks: int
    judge: collections.abc.Callable  # tests that passed and that failed, by the output and the number of ranks
    words: list = dataclasses.field(default_factory=list)
    title: str = ""  # where the name of the file does not tell
    data: pathlib.Path = None  # a folder of files that it reads where it runs
    inputs: dict = dataclasses.field(default_factory=dict)  # texts of files that it reads where it runs, by their names
    given: str = None  # what rank 0 reads from its standard input
    status: int = 0
    not_passed: str = ""  # the reason
    prepare: list = dataclasses.field(default_factory=list)  # commands that make its files where it runs
    results: tuple = ()  # patterns of files that it writes, which are judged as its output is
    environment: dict = dataclasses.field(default_factory=dict)
    libraries: list = dataclasses.field(default_factory=list)  # folders of libraries, before the common ones
    options: list = dataclasses.field(default_factory=list)  # of mpiexec
    modules: list = dataclasses.field(default_factory=list)  # files that it loads, with MPI
    needs: list = dataclasses.field(default_factory=list)  # libraries of MPI that a program made by prepare needs
    tools: list = dataclasses.field(default_factory=list)  # of the host


def own_counts(said, ranks):
    """The line of a program of SOURCES, once, by a job of all ranks."""
    found = re.findall(r"(\d+) ranks: (\d+) right, (\d+) wrong", said)
    return (int(found[0][1]), int(found[0][2])) if len(found) == 1 and int(found[0][0]) == ranks else (0, len(found))


def values(expected, tolerance=0.0):
    """Judges numbers: for each pattern those that its group finds, in order, by the numbers that are expected."""
    def judge(said, _):
        passed = failed = 0
        for pattern, numbers in expected.items():
            found = [float(number) for number in re.findall(pattern, said)]
            right = sum(abs(one - other) <= tolerance * max(1.0, abs(other)) for one, other in zip(found, numbers))
            passed, failed = passed + right, failed + max(len(found), len(numbers)) - right
        return passed, failed

    return judge


def lines(good, bad, least=1):
    """Judges by the number of lines that match a pattern, which have to be as many, and by those that match another."""
    def judge(said, _):
        passed = len(re.findall(good, said))
        return passed, len(re.findall(bad, said)) + max(0, least - passed)

    return judge


def own_program(root, source, libraries, headers=()):
    """A program of SOURCES, compiled for Debian's Open MPI."""
    place = root / "usr/lib/x86_64-linux-gnu"
    compiler = "g++" if source.endswith(".cpp") else "gcc"
    name = source.split(".")[0]
    folders = [root / "usr/include", place / "openmpi/include", *(root / "usr" / folder for folder in headers)]
    command = [compiler, "-O1", "-DOMPI_SKIP_MPICXX", *(f"-I{folder}" for folder in folders), SOURCES / source, "-o", name, f"-L{place}",
               f"-L{place}/openmpi/lib", f"-Wl,-rpath-link,{place}", *(f"-l{library}" for library in libraries), "-lmpi", "-lm"]
    return [Program(pathlib.Path(name), ranks, own_counts, prepare=[command], tools=[compiler]) for ranks in (2, 4)]


def python_program(root, source, modules, judge=own_counts, **more):
    """A program of SOURCES for Debian's python3, whose file does not tell that it uses Open MPI."""
    files = [file for pattern in modules for file in (root / "usr/lib").glob(pattern)]
    return [Program(pathlib.Path("/usr/bin/env"), ranks, judge, ["python3.11", SOURCES / source], title=source,
                    options=["--abi", "openmpi"], modules=files, tools=["python3.11"], **more) for ranks in (2, 4)]
