# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Table of debian.py: programs in Fortran that Debian has for Open MPI alone. Results were compared with those under Debian's
Open MPI 4.1.4."""
import pathlib
import re

from debian_program import SOURCES, Program, own_counts, values

PACKAGES = {
    "abinit": ["abinit", "abinit-data"],
    "cp2k": ["cp2k", "cp2k-data"],
    "elk": ["elk-lapw"],
    "elpa": ["libelpa-dev", "libopenmpi-dev"],
    "espresso": ["quantum-espresso", "abinit-data"],
    "mpgrafic": ["mpgrafic"],
    "mumps": ["mumps-test", "libmumps-dev", "libopenmpi-dev"],
    "parpack": ["libparpack2-dev", "libopenmpi-dev"],
}


# Hartree: the energy of silicon.abi, and its second derivative.
DISPLACED = [-7.9173752995, 6.9634160708]
# Hartree: the energies of a molecule of water in six steps.
WATER = [-17.1402812053, -17.1402345254, -17.1401751544, -17.1401057102, -17.1400238960, -17.1399329442]
# The deviations and largest values of mpgrafic's seven fields; its random numbers depend on the number of ranks.
FIELDS = {2: [0.26388, 0.52229, 0.39350, 0.36639, 0.52224, 0.39343, 0.36632, 1.08375, 1.69794, 1.52146, 1.55955, 1.65419, 1.54159, 1.53037],
          4: [0.25947, 0.37462, 0.38770, 0.42794, 0.37455, 0.38763, 0.42787, 1.16510, 1.54126, 1.46498, 1.54217, 1.52283, 1.40879, 1.59280]}


def of_both_sizes(file, judge, words, **more):
    return [Program(file, ranks, judge, words, **more) for ranks in (2, 4)]


def own_program(root, name, libraries):
    """A program of SOURCES, compiled for Debian's Open MPI."""
    place = root / "usr/lib/x86_64-linux-gnu"
    include = root / "usr/include"
    headers = [place / "fortran/gfortran-mod-15/openmpi", place / "openmpi/include", include, include / "elpa/modules"]
    command = ["gfortran", "-O1", *(f"-I{folder}" for folder in headers), SOURCES / f"{name}.f90", "-o", name, f"-L{place}",
               f"-L{place}/openmpi/lib", f"-Wl,-rpath-link,{place}:{place}/blas:{place}/lapack",
               *(f"-l{library}" for library in (*libraries, "mpi_mpifh", "mpi"))]
    return of_both_sizes(pathlib.Path(name), own_counts, [], prepare=[command], tools=["gfortran"], needs=["libmpi_mpifh.so.40"])


def abinit(root):
    judge = values(dict(zip((r"(?m)^ +etotal1 +(\S+)", r"(?m)^ +etotal2 +(\S+)"), ([number] for number in DISPLACED))), 1e-8)
    inputs = {"silicon.abi": (SOURCES / "silicon.abi").read_text()}
    return of_both_sizes(root / "usr/bin/abinit", judge, list(inputs), inputs=inputs,
                         environment={"ABI_PSPDIR": f"{root}/usr/share/abinit/psp"})


def cp2k(root):
    words = ["-i", root / "usr/share/doc/cp2k/examples/H2O.inp"]
    return of_both_sizes(root / "usr/bin/cp2k.psmp", values({r"Total FORCE_EVAL .*: +(\S+)": WATER}, 1e-7), words,
                         environment={"CP2K_DATA_DIR": f"{root}/usr/share/cp2k"})


def elk(root):
    judge = values({r"(?s).* total energy +: +(\S+)": [-578.1040985]}, 1e-8)
    return of_both_sizes(root / "usr/bin/elk-lapw", judge, [], data=root / "usr/share/elk-lapw/species", results=("INFO.OUT",),
                         inputs={"elk.in": (SOURCES / "silicon.elk").read_text()})


def espresso(root):
    """At 4 ranks two pools of two have half of the points of reciprocal space each."""
    judge = values({r"(?m)^! +total energy += +(\S+) Ry": [-21.80741727], r"Total force = +(\S+)": [0.038503],
                    r"P= +(\S+)": [-21.78]}, 1e-6)
    return [Program(root / "usr/bin/pw.x", ranks, judge, ["-nk", str(ranks // 2), "-in", SOURCES / "silicon.in"],
                    environment={"ESPRESSO_PSEUDO": f"{root}/usr/share/abinit/psp"}) for ranks in (2, 4)]


def mpgrafic(root):
    given = (root / "usr/share/doc/mpgrafic/examples/Input.stdin").read_text()
    title = r"sampled sigma, maximum= +\S+"
    return [Program(root / "usr/bin/mpgrafic", ranks, values({rf"{title} +(\S+)": fields[:7], rf"{title} +\S+ +(\S+)": fields[7:]}, 2e-5),
                    ["--np=32"], given=given) for ranks, fields in FIELDS.items()]


def solution(said, _):
    """The solution of MUMPS's tests is 1, 2, 3, 4, 5, without or with imaginary parts."""
    text = said.partition("Solution is")[2].partition("Entering")[0]
    numbers = [float(number) for number in re.findall(r"-?\d+\.\d+(?:E[-+]?\d+)?", text)]
    wanted = [1, 2, 3, 4, 5] if len(numbers) == 5 else [1, 0, 2, 0, 3, 0, 4, 0, 5, 0]
    right = sum(abs(one - other) < 1e-5 for one, other in zip(numbers, wanted))
    return right, max(len(numbers), len(wanted)) - right


def mumps(root):
    tests = root / "usr/lib/mumps"
    inputs = {letter: tests / f"input_simpletest_{'real' if letter in 'sd' else 'cmplx'}" for letter in "sdcz"}
    small = [program for letter, file in inputs.items()
             for program in of_both_sizes(tests / f"{letter}simpletest", solution, [], given=file.read_text())]
    return [*small, *own_program(root, "mumps_grid", ["dmumps"])]


def programs(name, root):
    """Those of a name, in the folder of unpacked packages."""
    own = {"elpa": ("elpa_solvers", ["elpa"]), "parpack": ("parpack_grid", ["parpack"])}
    if name in own:
        return own_program(root, *own[name])
    return {"abinit": abinit, "cp2k": cp2k, "elk": elk, "espresso": espresso, "mpgrafic": mpgrafic, "mumps": mumps}[name](root)
