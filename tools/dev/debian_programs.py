# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Table of debian.py: Debian's packages, and for each name how its programs are started and judged. These programs Debian has
for both MPIs; debian_openmpi.py and debian_openmpi_fortran.py have those for Open MPI alone."""
import pathlib
import re

import debian_openmpi
import debian_openmpi_fortran
from debian_program import SOURCES, Program, own_counts

COMMON = {"mpich": ["libmpich12", "mpich"], "openmpi": ["libopenmpi3", "openmpi-bin", "openmpi-common"]}
TESTERS = ["scalapack-mpi-test", "scalapack-test-common", "libscalapack-{}2.2"]
PACKAGES = {  # of a name, to its point; {} is the MPI, and apt-get finds those that they need
    "scalapack": TESTERS, "blacs": TESTERS, "pblas": TESTERS,
    "netpipe": ["netpipe-{}"],
    "nwchem": ["nwchem-{}", "nwchem-data"],
    "hdf5": ["libhdf5-{}-dev", "lib{}-dev"],
    "coarrays": ["libcoarrays-{}-dev"],
    "yorick": ["yorick-mpy-{}"],
}
NAMES = ["scalapack.s", "scalapack.d", "scalapack.c", "scalapack.z", "blacs", "pblas", "netpipe", "nwchem", "hdf5", "coarrays", "yorick"]
VERSIONED = {"netpipe-mpich": "netpipe-mpich2", "yorick-mpy-mpich": "yorick-mpy-mpich2"}  # names of packages that say mpich2
OPENMPI = debian_openmpi.PACKAGES | debian_openmpi_fortran.PACKAGES
# The testers of eigenvalues by relatively robust representations take minutes; the others take seconds.
LATE = ("xssyevr", "xdsyevr", "xcheevr", "xzheevr")
# In these, pslacon_ of Debian's library for Open MPI branches on memory that it has not written (valgrind), so ranks come to call
# different collective operations: xsllt waits forever under Debian's Open MPI too, xslu passes there and under valgrind.
STUCK = {"mpich": (), "openmpi": ("xsllt", "xslu")}
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
RESULTS = ("*.SUMM", "np.out")
# Each image adds to its neighbour's static coarray, which the neighbour may give its initial value later: a race, with Debian's
# MPICH too. OpenCoarrays does not run it either.
RACES = ("increment_my_neighbor",)
NO_FAILURES = "fails an image, and Debian's library was built without failed images"
NOT_PASSED = {
    "image_fail_test_1": NO_FAILURES, "image_fail_and_get_test_1": NO_FAILURES, "image_fail_and_status_test_1": NO_FAILURES,
    "image_fail_and_failed_images_test_1": NO_FAILURES, "image_fail_and_stopped_images_test_1": NO_FAILURES,
    "image_fail_and_sync_test_1": NO_FAILURES, "image_fail_and_sync_test_2": NO_FAILURES, "image_fail_and_sync_test_3": NO_FAILURES,
}


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


def scalapack(mpi, name, root, libraries):
    tests, data = libraries / f"scalapack/{mpi}-tests", root / "usr/share/scalapack"
    if name == "blacs":  # the last test is blacs_abort
        return [Program(file, 4, scalapack_tests, data=data / "BLACS", status=255, results=RESULTS) for file in tests.glob("x[CF]btest")]
    if name == "pblas":
        return [Program(file, 4, scalapack_tests, data=data / "PBLAS", results=RESULTS) for file in tests.glob("PBLAS/*tst")]
    letter = name.removeprefix("scalapack.")
    return [Program(file, 4, scalapack_tests, data=data, results=RESULTS) for file in tests.glob(f"x{letter}*")
            if file.name not in (*LATE, *STUCK[mpi])]


def hdf5(mpi, root, libraries):
    """Linked as by h5pcc and h5pfc, whose paths are those of installed packages."""
    headers = {"mpich": root / "usr/include/x86_64-linux-gnu/mpich", "openmpi": libraries / "openmpi/include"}[mpi]
    modules = {"mpich": [], "openmpi": [f"-I{libraries}/fortran/gfortran-mod-15/openmpi"]}[mpi]
    flags = ["-O1", f"-I{root}/usr/include/hdf5/{mpi}", f"-I{headers}", *modules, f"-L{libraries}/hdf5/{mpi}", f"-L{libraries}",
             f"-L{libraries}/openmpi/lib", f"-Wl,-rpath-link,{libraries}"]
    compilers = {"c": ["gcc", *flags], "f90": ["gfortran", *flags]}
    own = {"mpich": {"c": ["-lmpich"], "f90": ["-lmpichfort", "-lmpich"]},
           "openmpi": {"c": ["-lmpi"], "f90": ["-lmpi_mpifh", "-lmpi"]}}[mpi]
    needed = {"c": [], "f90": ["libmpi_mpifh.so.40"] if mpi == "openmpi" else []}
    linked = {"c": ["-lhdf5", *own["c"]], "f90": ["-lhdf5_fortran", "-lhdf5", *own["f90"]]}
    return [Program(pathlib.Path(f"hdf5_{suffix}"), ranks, own_counts, tools=[command[0]], needs=needed[suffix],
                    prepare=[[*command, SOURCES / f"hdf5_datasets.{suffix}", "-o", f"hdf5_{suffix}", *linked[suffix]]])
            for suffix, command in compilers.items() for ranks in (2, 4)]


def coarrays(mpi, libraries):
    programs = []
    for file in libraries.glob(f"open-coarrays/{mpi}/bin/*-tests/*"):
        if file.name in RACES:
            continue
        numbers = next(numbers for pattern, numbers in IMAGES.items() if re.fullmatch(pattern, file.name))
        choices = [["true"], ["false"]] if file.name == "issue-488-multi-dim-cobounds" else [[]]
        programs += [Program(file, images, coarray_test, words, not_passed=NOT_PASSED.get(file.name, ""))
                     for images in numbers for words in choices]
    return programs


def programs(mpi, name, root):
    """Those of a name, in the folder of unpacked packages."""
    libraries = root / "usr/lib/x86_64-linux-gnu"
    if name == "netpipe":
        return [Program(root / "usr/bin" / {"mpich": "NPmpich2", "openmpi": "NPopenmpi"}[mpi], 2, netpipe_sizes,
                        ["-l", "1", "-u", "65536", "-o", "np.out"], results=RESULTS)]
    if name == "nwchem":
        basis = {"NWCHEM_BASIS_LIBRARY": f"{root}/usr/share/nwchem/libraries/"}
        return [Program(root / f"usr/bin/nwchem.{mpi}", ranks, energy, [SOURCES / "water.nw"], environment=basis) for ranks in (2, 4)]
    if name == "hdf5":
        return hdf5(mpi, root, libraries)
    if name == "coarrays":
        return coarrays(mpi, libraries)
    if name == "yorick":
        file = root / "usr/lib/yorick/bin" / {"mpich": "mpy.mpich2", "openmpi": "mpy.openmpi"}[mpi]
        return [Program(file, ranks, own_counts, ["-batch", SOURCES / "mpy_messages.i"]) for ranks in (2, 4)]
    if name in NAMES:
        return scalapack(mpi, name, root, libraries)
    table = debian_openmpi_fortran if name in debian_openmpi_fortran.PACKAGES else debian_openmpi
    return table.programs(name, root)


def names():
    """All names, with their MPI."""
    return [*(f"{mpi}.{name}" for mpi in COMMON for name in NAMES), *(f"openmpi.{name}" for name in OPENMPI)]


def packages(name):
    """Packages of a name with its MPI."""
    mpi, name = name.split(".", 1)
    own = OPENMPI[name] if name in OPENMPI else PACKAGES[name.split(".")[0]]
    return [*COMMON[mpi], *(VERSIONED.get(package.format(mpi), package.format(mpi)) for package in own)]


def environment(program, root):
    """Leads to libraries and modules in the folder of unpacked packages; a rank has one thread."""
    libraries = root / "usr/lib/x86_64-linux-gnu"
    folders = [*program.libraries, libraries, root / "usr/lib", *(libraries / part for part in ("openmpi/lib", "blas", "lapack"))]
    return {"LD_LIBRARY_PATH": ":".join(map(str, folders)), "PYTHONPATH": f"{root}/usr/lib/python3/dist-packages",
            "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", **program.environment}


def peer(mpi, root, ranks):
    """How Debian's own MPI starts a program, and settings by which it runs from that folder."""
    if mpi == "mpich":
        return [root / "usr/bin/mpiexec.hydra", "-n", str(ranks)], {}
    settings = {"OPAL_PREFIX": f"{root}/usr", "OMPI_MCA_plm_rsh_agent": "true", "OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self,vader"}
    return [root / "usr/bin/mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-n", str(ranks)], settings
