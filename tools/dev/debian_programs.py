# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""What debian_mpich.py runs: Debian's packages, and for each name how its programs are started and judged."""
import collections.abc
import dataclasses
import pathlib
import re
import shutil

SOURCES = pathlib.Path(__file__).resolve().parents[2] / "tests/suites"  # inputs, and programs that are compiled for Debian's MPICH
COMMON = ["libmpich12", "libgfortran5", "libslurm38", "libhwloc15", "libucx0", "libfabric1"]
SCALAPACK = ["libscalapack-mpich2.2", "libblas3", "liblapack3"]
TESTERS = [*SCALAPACK, "scalapack-mpi-test", "scalapack-test-common"]
PACKAGES = {  # of a name, to its point
    "scalapack": TESTERS, "blacs": TESTERS, "pblas": TESTERS,
    "netpipe": ["netpipe-mpich2"],
    "nwchem": [*SCALAPACK, "nwchem-mpich", "nwchem-data", "libpython3.11"],
    "hdf5": ["libhdf5-mpich-dev", "libhdf5-mpich-103-1", "libhdf5-mpich-fortran-102", "libmpich-dev", "libsz2", "libaec0"],
    "coarrays": ["libcoarrays-mpich-dev"],
    "yorick": ["yorick-mpy-mpich2", "yorick-mpy-common", "yorick", "yorick-data", "libx11-6", "libxcb1", "libxau6", "libxdmcp6",
               "libbsd0", "libmd0"],
}
# The testers of eigenvalues by relatively robust representations take minutes; the others take seconds.
LATE = ("xssyevr", "xdsyevr", "xcheevr", "xzheevr")
ENERGY = -74.963063120101  # Hartree, of water.nw with Debian's MPICH at one rank
# The images of OpenCoarrays' tests as in its CMakeLists.txt: of the first pattern that matches.
IMAGES = {
    "issue-511.*": [1],
    "sync_image_ring.*": [3, 7],
    "async.*world|convert-before-put|get_communicator|issue-422-send-get|sendget.*|static_event.*|strided_sendget|teams_subset": [3],
    "co_broadcast_alloc_mixed": [2],
    "allocatable_p2p.*|co_.*|coarray_distributed.*|get_with_vector.*|image_.*|random_init": [4],
    "teams_coarray.*": [5],
    "async_comp_alloc": [6],
    "allocate_as_barrier_proc|atomics|duplicate.*|issue-4[89].*|source-alloc-sync|sync.*|team_number": [8],
    ".*": [2],
}
# Each image adds to its neighbour's static coarray, which the neighbour may give its initial value later: a race, with Debian's
# MPICH too. OpenCoarrays does not run it either.
RACES = ("increment_my_neighbor",)
NO_FAILURES = "fails an image, and Debian's library was built without failed images"
NOT_PASSED = {
    "image_fail_test_1": NO_FAILURES, "image_fail_and_get_test_1": NO_FAILURES, "image_fail_and_status_test_1": NO_FAILURES,
    "image_fail_and_failed_images_test_1": NO_FAILURES, "image_fail_and_stopped_images_test_1": NO_FAILURES,
    "image_fail_and_sync_test_1": NO_FAILURES, "image_fail_and_sync_test_2": NO_FAILURES, "image_fail_and_sync_test_3": NO_FAILURES,
}


@dataclasses.dataclass
class Program:
    file: pathlib.Path
    ranks: int
    judge: collections.abc.Callable  # tests that passed and that failed, by the output and the number of ranks
    words: list = dataclasses.field(default_factory=list)
    data: pathlib.Path = None  # a folder of files that it reads where it runs
    status: int = 0
    not_passed: str = ""  # the reason
    compiler: list = dataclasses.field(default_factory=list)  # makes the file where it runs
    environment: dict = dataclasses.field(default_factory=dict)


def scalapack_tests(said, _):
    # The sums of ScaLAPACK and BLACS, and PBLAS's lines of a subroutine: in all, passed, failed, skipped.
    lines = [list(map(int, line)) for line in re.findall(r"(?m)^ *\| +\w+ +(\d+) +(\d+) +(\d+) +(\d+) *$", said)]
    def sums(lower, upper):
        return [int(number) for number in re.findall(rf"(?<![.\d])(\d+) (?:tests completed and {lower}|{upper})", said)]

    passed = sums("passed", "PASSED") + [line[1] for line in lines]
    failed = sums("failed", "FAILED") + [line[2] for line in lines]
    if not passed:  # others have a word in the line of each test
        passed, failed = ([len(re.findall(rf"\b(?:{word.upper()}|{word})\b", said))] for word in ("Passed", "Failed"))
    return sum(passed), sum(failed)


def netpipe_sizes(said, _):
    return len(re.findall(r"(?m)^ *\d+ +[\d.]+ +[\d.]+$", said)), 0


def energy(said, _):
    energies = [float(number) for number in re.findall(r"Total SCF energy = +(\S+)", said)]
    right = sum(abs(number - ENERGY) <= 1e-8 for number in energies)
    return right, len(energies) - right


def coarray_test(said, _):
    return int("test passed" in said.lower()), int("test failed" in said.lower())


def own_counts(said, ranks):
    """The line of a program of SOURCES, once, by a job of all ranks."""
    found = re.findall(r"(\d+) ranks: (\d+) right, (\d+) wrong", said)
    return (int(found[0][1]), int(found[0][2])) if len(found) == 1 and int(found[0][0]) == ranks else (0, len(found))


def scalapack(name, root, libraries):
    tests, data = libraries / "scalapack/mpich-tests", root / "usr/share/scalapack"
    if name == "blacs":  # the last test is blacs_abort
        return [Program(file, 4, scalapack_tests, data=data / "BLACS", status=255) for file in tests.glob("x[CF]btest")]
    if name == "pblas":
        return [Program(file, 4, scalapack_tests, data=data / "PBLAS") for file in tests.glob("PBLAS/*tst")]
    letter = name.removeprefix("scalapack.")
    return [Program(file, 4, scalapack_tests, data=data) for file in tests.glob(f"x{letter}*") if file.name not in LATE]


def hdf5(root, libraries):
    """Linked as by h5pcc and h5pfc, whose paths are those of installed packages."""
    include = root / "usr/include"
    flags = ["-O1", f"-I{include}/hdf5/mpich", f"-I{include}/x86_64-linux-gnu/mpich", f"-L{libraries}/hdf5/mpich", f"-L{libraries}",
             f"-Wl,-rpath-link,{libraries}"]
    compilers = {"c": ["gcc", *flags], "f90": ["gfortran", *flags]}
    linked = {"c": ["-lhdf5", "-lmpich"], "f90": ["-lhdf5_fortran", "-lhdf5", "-lmpichfort", "-lmpich"]}
    return [Program(pathlib.Path(f"hdf5_{suffix}"), ranks, own_counts,
                    compiler=[*command, SOURCES / f"hdf5_datasets.{suffix}", "-o", f"hdf5_{suffix}", *linked[suffix]])
            for suffix, command in compilers.items() if shutil.which(command[0]) for ranks in (2, 4)]


def coarrays(libraries):
    programs = []
    for file in libraries.glob("open-coarrays/mpich/bin/*-tests/*"):
        if file.name in RACES:
            continue
        numbers = next(numbers for pattern, numbers in IMAGES.items() if re.fullmatch(pattern, file.name))
        choices = [["true"], ["false"]] if file.name == "issue-488-multi-dim-cobounds" else [[]]
        programs += [Program(file, images, coarray_test, words, not_passed=NOT_PASSED.get(file.name, "")) for images in numbers for words in choices]
    return programs


def programs(name, root):
    """Those of a name, in the folder of unpacked packages."""
    libraries = root / "usr/lib/x86_64-linux-gnu"
    if name == "netpipe":
        return [Program(root / "usr/bin/NPmpich2", 2, netpipe_sizes, ["-l", "1", "-u", "65536", "-o", "np.out"])]
    if name == "nwchem":
        basis = {"NWCHEM_BASIS_LIBRARY": f"{root}/usr/share/nwchem/libraries/"}
        return [Program(root / "usr/bin/nwchem.mpich", ranks, energy, [SOURCES / "water.nw"], environment=basis) for ranks in (2, 4)]
    if name == "hdf5":
        return hdf5(root, libraries)
    if name == "coarrays":
        return coarrays(libraries)
    if name == "yorick":
        return [Program(root / "usr/lib/yorick/bin/mpy.mpich2", ranks, own_counts, ["-batch", SOURCES / "mpy_messages.i"]) for ranks in (2, 4)]
    return scalapack(name, root, libraries)
