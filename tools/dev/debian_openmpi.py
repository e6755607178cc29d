# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Table of debian.py: programs that Debian has for Open MPI alone. Results were compared with those under Debian's Open MPI 4.1.4."""
import pathlib

from debian_program import SOURCES, Program, lines, own_counts, values

PACKAGES = {
    "boost": ["libboost-mpi-dev", "libboost-serialization-dev", "libopenmpi-dev"],
    "fftw": ["libfftw3-mpi-dev", "libopenmpi-dev"],
    "h5py": ["python3-h5py-mpi", "python3-mpi4py", "python3-numpy"],
    "hpcc": ["hpcc"],
    "lammps": ["lammps"],
    "rmpi": ["r-cran-rmpi", "r-base-core"],
}
# Temperature and energy of each atom at steps 0, 50 and 100 of melt.lmp.
MELT = {r"(?m)^ +(?:0|50|100) +([-\d.]+) ": [3.0, 1.6842865, 1.6712577],
        r"(?m)^ +(?:0|50|100) +\S+ +\S+ +0 +([-\d.]+)": [-2.2744931, -2.2824513, -2.281301]}


def own_program(root, source, libraries):
    """A program of SOURCES, compiled for Debian's Open MPI."""
    place = root / "usr/lib/x86_64-linux-gnu"
    compiler = "g++" if source.endswith(".cpp") else "gcc"
    name = source.split(".")[0]
    command = [compiler, "-O1", f"-I{root}/usr/include", f"-I{place}/openmpi/include", SOURCES / source, "-o", name, f"-L{place}",
               f"-L{place}/openmpi/lib", f"-Wl,-rpath-link,{place}", *(f"-l{library}" for library in libraries), "-lmpi", "-lm"]
    return [Program(pathlib.Path(name), ranks, own_counts, prepare=[command], tools=[compiler]) for ranks in (2, 4)]


def python_program(root, source, modules, **more):
    """A program of SOURCES for Debian's python3, whose file does not tell that it uses Open MPI."""
    files = [file for pattern in modules for file in (root / "usr/lib").glob(pattern)]
    return [Program(pathlib.Path("/usr/bin/env"), ranks, own_counts, ["python3.11", SOURCES / source], title=source,
                    options=["--abi", "openmpi"], modules=files, tools=["python3.11"], **more) for ranks in (2, 4)]


def hpcc(root, ranks):
    # HPL, PTRANS, RandomAccess, STREAM and FFT have a line each for the checks that they make.
    good, bad = r"\bPASSED\b|\(passed\)|Solution Validates|Success=1", r"\bFAILED\b|\(failed\)|Failed Validation|Success=0"
    inputs = {"hpccinf.txt": (SOURCES / "hpcc.txt").read_text().replace("RANKS", str(ranks))}
    return Program(root / "usr/bin/hpcc", ranks, lines(good, bad, 17), inputs=inputs, results=("hpccoutf.txt",))


def rmpi(root):
    place = root / "usr/lib/R"
    settings = {"R_HOME": str(place), "R_SHARE_DIR": f"{root}/usr/share/R/share", "R_LIBS": f"{place}/site-library:{place}/library",
                "EDITOR": "vi", "PAGER": "cat"}
    words = ["--no-echo", "--no-restore", "--vanilla", f"--file={SOURCES / 'rmpi_objects.R'}"]
    return [Program(place / "bin/exec/R", ranks, own_counts, words, options=["--abi", "openmpi"], environment=settings,
                    libraries=[place / "lib"]) for ranks in (2, 4)]


def programs(name, root):
    """Those of a name, in the folder of unpacked packages."""
    if name == "boost":
        return own_program(root, "boost_objects.cpp", ["boost_mpi", "boost_serialization"])
    if name == "fftw":
        return own_program(root, "fftw_transforms.c", ["fftw3_mpi", "fftw3"])
    if name == "h5py":
        return python_program(root, "h5py_datasets.py", ["python3/dist-packages/mpi4py/MPI.*.so"], environment={"H5PY_ALWAYS_USE_MPI": "1"})
    if name == "lammps":
        return [Program(root / "usr/bin/lmp", ranks, values(MELT, 1e-6), ["-in", SOURCES / "melt.lmp", "-log", "none"]) for ranks in (2, 4)]
    if name == "rmpi":
        return rmpi(root)
    return [hpcc(root, ranks) for ranks in (2, 4)]
