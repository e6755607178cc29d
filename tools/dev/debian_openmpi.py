# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Table of debian.py: programs that Debian has for Open MPI alone. Results were compared with those under Debian's Open MPI 4.1.4."""
import re

import debian_openmpi_more
from debian_program import SOURCES, Program, lines, own_counts, own_program, python_program, values

PACKAGES = {
    "boost": ["libboost-mpi-dev", "libboost-serialization-dev", "libopenmpi-dev"],
    "fftw": ["libfftw3-mpi-dev", "libopenmpi-dev"],
    "gromacs": ["gromacs", "gromacs-data"],
    "h5py": ["python3-h5py-mpi", "python3-mpi4py", "python3-numpy"],
    "hpcc": ["hpcc"],
    "lammps": ["lammps"],
    "openfoam": ["openfoam", "openfoam-examples"],
    "ptscotch": ["ptscotch"],
    "rmpi": ["r-cran-rmpi", "r-base-core"],
    "superlu": ["libsuperlu-dist-dev"],
    **debian_openmpi_more.PACKAGES,
}
# Temperature and energy of each atom at steps 0, 50 and 100 of melt.lmp.
MELT = {r"(?m)^ +(?:0|50|100) +([-\d.]+) ": [3.0, 1.6842865, 1.6712577],
        r"(?m)^ +(?:0|50|100) +\S+ +\S+ +0 +([-\d.]+)": [-2.2744931, -2.2824513, -2.281301]}
# Potential and kinetic energy at the last step of water.mdp, at 2 and 4 ranks; the processor chooses the kernels of forces.
WATER = {2: [-9935.54, 1630.46], 4: [-9935.86, 1630.80]}
# Residuals of pressure and the sum of errors of continuity at step 20 of pitzDaily, at 2 ranks and at 4.
DUCT = {2: [0.0344311, 0.230954], 4: [0.034849, 0.876647]}
DUCT_CONTROL = """FoamFile { version 2.0; format ascii; class dictionary; object controlDict; }
application simpleFoam; startFrom startTime; startTime 0; stopAt endTime; endTime 20; deltaT 1; writeControl timeStep; writeInterval 20;
"""
DUCT_PARTS = """FoamFile {{ version 2.0; format ascii; class dictionary; object decomposeParDict; }}
numberOfSubdomains {0}; method simple; simpleCoeffs {{ n ({0} 1 1); delta 0.001; }}
"""
GRID = 16  # of PT-Scotch's graph, in each dimension; planes cut it into 8 parts at 768 edges
SUPERLU_ROUGH = r"ps.*|p.drive3"  # of single precision, or factors of another matrix: errors to 1e-5, those of others to 1e-9
# These free memory twice when they end, under Debian's Open MPI too, or print no error of their solution.
SUPERLU_NOT = r"p.drive(3d3|4_ABglobal)"


def hpcc(root, ranks):
    # HPL, PTRANS, RandomAccess, STREAM and FFT have a line each for the checks that they make.
    good, bad = r"\bPASSED\b|\(passed\)|Solution Validates|Success=1", r"\bFAILED\b|\(failed\)|Failed Validation|Success=0"
    inputs = {"hpccinf.txt": (SOURCES / "hpcc.txt").read_text().replace("RANKS", str(ranks))}
    return Program(root / "usr/bin/hpcc", ranks, lines(good, bad, 17), inputs=inputs, results=("hpccoutf.txt",))


def gromacs(root, ranks):
    top = root / "usr/share/gromacs/top"
    prepare = [[root / "usr/bin/gmx", "-quiet", "grompp", "-f", SOURCES / "water.mdp", "-c", top / "spc216.gro", "-p",
                SOURCES / "water.top", "-o", "water.tpr", "-maxwarn", "3"]]
    # The energies at the last step are the last but one, before the averages.
    def judge(said, _):
        found = re.findall(r"Potential +Kinetic En\.\n.* (\S+) +(\S+)\n", said)
        right = sum(abs(float(one) - other) <= 1e-4 * abs(other) for one, other in zip(found[-2], WATER[ranks])) if len(found) > 1 else 0
        return right, 2 - right

    words = ["mdrun", "-s", "water.tpr", "-reprod", "-ntomp", "1", "-dlb", "no", "-deffnm", "water"]
    return Program(root / "usr/bin/gmx_mpi", ranks, judge, words, prepare=prepare, results=("water.log",), environment={"GMXLIB": str(top)})


def openfoam(root, ranks):
    case = root / "usr/share/doc/openfoam-examples/examples/incompressible/simpleFoam/pitzDaily"
    write = f"cat >system/controlDict <<'E'\n{DUCT_CONTROL}E\ncat >system/decomposeParDict <<'E'\n{DUCT_PARTS.format(ranks)}E\n"
    prepare = [["cp", "-r", *(case / part for part in ("0", "constant", "system")), "."], ["sh", "-c", write], [root / "usr/bin/blockMesh"],
               [root / "usr/bin/decomposePar"]]
    last = r"(?s)Time = 20\n.*Solving for p, Initial residual = ([\d.e-]+),", r"(?s)Time = 20\n.*cumulative = ([-\d.e]+)"
    settings = {"WM_PROJECT_DIR": f"{root}/usr/share/openfoam", "WM_PROJECT": "OpenFOAM", "FOAM_ETC": f"{root}/usr/share/openfoam/etc"}
    return Program(root / "usr/bin/simpleFoam", ranks, values(dict(zip(last, ([number] for number in DUCT[ranks]))), 1e-4), ["-parallel"],
                   prepare=prepare, environment=settings, libraries=[root / "usr/lib/openmpi-system"])


def graph():
    """A grid in three dimensions, in Scotch's format."""
    points = [(x, y, z) for x in range(GRID) for y in range(GRID) for z in range(GRID)]
    near = [[((x + a) * GRID + y + b) * GRID + z + c for a, b, c in ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1))
             if 0 <= x + a < GRID and 0 <= y + b < GRID and 0 <= z + c < GRID] for x, y, z in points]
    return f"0\n{len(points)} {sum(map(len, near))}\n0 000\n" + "".join(f"{len(some)} {' '.join(map(str, some))}\n" for some in near)


def permutation(said, _):
    """The order of dgord has each point once."""
    rows = [line.split() for line in said.splitlines() if re.fullmatch(r"\d+\s+\d+", line)]
    right = sorted(int(row[1]) for row in rows) == list(range(GRID ** 3)) == sorted(int(row[0]) for row in rows)
    return int(right), int(not right)


def parts(said, _):
    """The parts of dgpart are eight of one size within a tenth, and edges between them not more than a fifth above the best."""
    load, cut = re.search(r"Target min=(\d+)\s+max=(\d+)", said), re.search(r"CommCutSz=\S+\s+\((\d+)\)", said)
    checks = ["Processors 8/8" in said, load and 460 < int(load[1]) <= int(load[2]) < 564, cut and 768 <= int(cut[1]) < 922]
    return sum(map(bool, checks)), 3 - sum(map(bool, checks))


def ptscotch(root):
    grid = {"grid.grf": graph()}
    checked = values({r"Vertex\s+nbr=(\d+)": [GRID ** 3], r"Vertex load.*sum=(\d+)": [GRID ** 3], r"Edge\s+nbr=(\d+)": [11520]})
    return [Program(root / "usr/bin" / file, ranks, judge, words, inputs=grid, results=results) for ranks in (2, 4)
            for file, judge, words, results in (("dgpart", parts, ["8", "grid.grf", "parts", "-vm"], ()),
                                                ("dgord", permutation, ["grid.grf", "order"], ("order",)),
                                                ("dgtst", checked, ["grid.grf"], ()))]


def rmpi(root):
    place = root / "usr/lib/R"
    settings = {"R_HOME": str(place), "R_SHARE_DIR": f"{root}/usr/share/R/share", "R_LIBS": f"{place}/site-library:{place}/library",
                "EDITOR": "vi", "PAGER": "cat"}
    words = ["--no-echo", "--no-restore", "--vanilla", f"--file={SOURCES / 'rmpi_objects.R'}"]
    return [Program(place / "bin/exec/R", ranks, own_counts, words, options=["--abi", "openmpi"], environment=settings,
                    libraries=[place / "lib"]) for ranks in (2, 4)]


def superlu(root):
    """Examples at 2 x 2 ranks, and at 10 those that solve two systems on 6 and 4 of them; each prints the error of its solutions."""
    tests = root / "usr/lib/x86_64-linux-gnu/superlu-dist/tests/EXAMPLE"
    programs = []
    for file in tests.glob("p[dsz]drive*"):
        if re.fullmatch(SUPERLU_NOT, file.name):
            continue
        matrix = tests / ("cg20.cua" if file.name[1] == "z" else "big.rua")

        def judge(said, _, most=1e-5 if re.fullmatch(SUPERLU_ROUGH, file.name) else 1e-9):
            errors = [float(number) for number in re.findall(r"\|\|X ?- ?Xtrue\|\| ?/ ?\|\|X\|\| = +(\S+)", said)]
            right = sum(error < most for error in errors)
            return right, len(errors) - right

        grid = [] if "drive4" in file.name else ["-r", "2", "-c", "2", *(["-d", "1"] if "3d" in file.name else [])]
        programs.append(Program(file, 10 if "drive4" in file.name else 4, judge, [*grid, matrix]))
    return programs


def programs(name, root):
    """Those of a name, in the folder of unpacked packages."""
    if name in debian_openmpi_more.PACKAGES:
        return debian_openmpi_more.programs(name, root)
    if name == "boost":
        return own_program(root, "boost_objects.cpp", ["boost_mpi", "boost_serialization"])
    if name == "fftw":
        return own_program(root, "fftw_transforms.c", ["fftw3_mpi", "fftw3"])
    if name == "h5py":
        return python_program(root, "h5py_datasets.py", ["python3/dist-packages/mpi4py/MPI.*.so"], environment={"H5PY_ALWAYS_USE_MPI": "1"})
    if name == "lammps":
        return [Program(root / "usr/bin/lmp", ranks, values(MELT, 1e-6), ["-in", SOURCES / "melt.lmp", "-log", "none"]) for ranks in (2, 4)]
    if name in ("ptscotch", "rmpi", "superlu"):
        return {"ptscotch": ptscotch, "rmpi": rmpi, "superlu": superlu}[name](root)
    return [{"gromacs": gromacs, "hpcc": hpcc, "openfoam": openfoam}[name](root, ranks) for ranks in (2, 4)]
