# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Table of debian.py: programs that Debian has for Open MPI alone."""
from debian_program import SOURCES, Program, lines, values

PACKAGES = {
    "hpcc": ["hpcc", "libblas3"],
    "lammps": ["lammps", "liblammps0"],
}
# Temperature and energy per atom at steps 0, 50 and 100 of melt.lmp.
MELT = {r"(?m)^ +(?:0|50|100) +([-\d.]+) ": [3.0, 1.6842865, 1.6712577], r"(?m)^ +(?:0|50|100) +\S+ +\S+ +0 +([-\d.]+)": [-2.2744931, -2.2824513, -2.281301]}


def hpcc(root, ranks):
    # HPL, PTRANS, RandomAccess, STREAM and FFT have a line each for the checks that they make.
    good, bad = r"\bPASSED\b|\(passed\)|Solution Validates|Success=1", r"\bFAILED\b|\(failed\)|Failed Validation|Success=0"
    inputs = {"hpccinf.txt": (SOURCES / "hpcc.txt").read_text().replace("RANKS", str(ranks))}
    return Program(root / "usr/bin/hpcc", ranks, lines(good, bad, 17), inputs=inputs, results=("hpccoutf.txt",))


def programs(name, root):
    """Those of a name, in the folder of unpacked packages."""
    if name == "hpcc":
        return [hpcc(root, ranks) for ranks in (2, 4)]
    if name == "lammps":
        return [Program(root / "usr/bin/lmp", ranks, values(MELT, 1e-6), ["-in", SOURCES / "melt.lmp", "-log", "none"]) for ranks in (2, 4)]
    raise KeyError(name)
