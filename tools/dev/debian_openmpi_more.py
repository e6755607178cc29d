# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Table of debian.py: more programs that Debian has for Open MPI alone. Numbers are those under Debian's Open MPI 4.1.4."""
import pathlib
import re

from debian_program import SOURCES, Program, own_program, python_program, values

PACKAGES = {
    "abyss": ["abyss"],
    "freefem": ["freefem++"],
    "gpaw": ["gpaw", "gpaw-data"],
    "iqtree": ["iqtree"],
    "meep": ["python3-meep-openmpi"],
    "netcdf": ["libnetcdf-mpi-dev", "libopenmpi-dev"],
    "neuron": ["neuron"],
    "paraview": ["paraview", "python3-paraview", "python3-mpi4py"],
    "petsc": ["python3-petsc4py-real3.18", "python3-slepc4py-real3.18"],
    "pnetcdf": ["libpnetcdf-dev", "libopenmpi-dev"],
    "ray": ["ray"],
    "saturne": ["code-saturne-bin"],
    "trilinos": ["libtrilinos-aztecoo-dev", "libtrilinos-epetra-dev", "libtrilinos-teuchos-dev", "libtrilinos-triutils-dev",
                  "libopenmpi-dev"],
}
SIDE = 12  # cells of Code_Saturne's cube, in each dimension
SURFACE = {2: 26852, 4: 28328}  # cells, with those that two ranks have


def cube():
    """A cube of cells, in Gmsh's format 2.2."""
    def point(x, y, z):
        return (z * (SIDE + 1) + y) * (SIDE + 1) + x + 1

    points = [(x, y, z) for z in range(SIDE + 1) for y in range(SIDE + 1) for x in range(SIDE + 1)]
    corners = ((0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1))
    cells = [[point(x + a, y + b, z + c) for a, b, c in corners] for z in range(SIDE) for y in range(SIDE) for x in range(SIDE)]
    text = f"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{len(points)}\n"
    text += "".join(f"{point(*place)} {place[0] / SIDE:g} {place[1] / SIDE:g} {place[2] / SIDE:g}\n" for place in points)
    text += f"$EndNodes\n$Elements\n{len(cells)}\n"
    return text + "".join(f"{number} 5 2 1 1 {' '.join(map(str, cell))}\n" for number, cell in enumerate(cells, 1)) + "$EndElements\n"


def saturne(root, ranks):
    """The solver's check of a mesh, which ranks read, partition and measure."""
    place = root / "usr/lib/code_saturne"
    expected = {r"Minimum control volume += +(\S+)": [SIDE ** -3], r"Maximum control volume += +(\S+)": [SIDE ** -3],
                r"Number of boundary faces: +(\d+)": [6 * SIDE ** 2]}
    return Program(place / "cs_solver", ranks, values(expected, 1e-6), ["--mpi", "-q"], inputs={"cube.msh": cube()},
                   prepare=[[place / "cs_preprocess", "cube.msh"]], results=("run_solver.log",))


def reads(root, pattern, count):
    """The first lines of the two files of reads that a package has as an example."""
    return [["sh", "-c", f"zcat {root}/usr/share/doc/{pattern.format(i)} | head -n {count} >reads{i}.fastq"] for i in (1, 2)]


def abyss(root, ranks):
    words = ["-k25", "-o", "contigs.fa", "reads1.fastq", "reads2.fastq"]
    expected = {r"(?m)^Assembled (\d+) k-mer": [2324], r"(?m)^Assembled .* in (\d+) contigs": [63]}
    return Program(root / "usr/lib/abyss/ABYSS-P", ranks, values(expected),
                   words, prepare=reads(root, "abyss/test-data/reads{}.fastq.gz", 4000))


def ray(root):
    """One contig of all thousand bases. Ranks poll, so that two on each core take minutes."""
    words = ["-k", "31", "-p", "reads1.fastq", "reads2.fastq", "-o", "assembly"]
    return [Program(root / "usr/bin/Ray", 2, values({r"Total length: (\d+)": [1000] * 4}), words,
                    prepare=reads(root, "ray/test_data/ecoli_1K_{}.fq.gz", 10000))]


def iqtree(root, ranks):
    words = ["-s", "example.phy", "-m", "HKY", "-seed", "1", "-nt", "1", "-n", "2"]
    return Program(root / "usr/bin/iqtree2-mpi", ranks, values({r"BEST SCORE FOUND : (\S+)": [-23117.030]}, 1e-6), words,
                   data=root / "usr/share/doc/iqtree/examples")


def neuron(root, ranks):
    return Program(root / "usr/bin/nrniv", ranks, values({r"ranks (\d+)": [ranks], r"spikes (\d+)": [100], r"sum (\d+)": [57400]}),
                   ["-mpi", SOURCES / "neuron_ring.hoc"], options=["--abi", "openmpi"], libraries=[root / "usr/lib/nrn"],
                   environment={"NEURONHOME": f"{root}/usr/share/nrn"})


def freefem(root, ranks):
    expected = {r"(?m)^(\d+) ranks": [ranks], r"largest ([\d.]+) sum": [0.0735267], r"sum ([\d.]+)": [13.9443]}
    return Program(root / "usr/bin/FreeFem++-mpi", ranks, values(expected, 1e-5), ["-nw", SOURCES / "freefem_poisson.edp"])


def paraview(root, ranks):
    return Program(root / "usr/bin/pvbatch", ranks, values({r"(?m)^(\d+) ranks": [ranks], r"cells (\d+)": [SURFACE[ranks]]}),
                   [SOURCES / "paraview_contour.py"])


def python(root, name):
    lib = root / "usr/lib"
    if name == "petsc":
        places = [lib / f"{kind}dir/{kind}3.18/x86_64-linux-gnu-real/lib/python3/dist-packages" for kind in ("petsc", "slepc")]
        path = ":".join(map(str, [lib / "python3/dist-packages", *places]))
        return python_program(root, "petsc_systems.py", ["slepcdir/**/SLEPc.*.so"], environment={"PYTHONPATH": path})
    if name == "meep":
        expected = {r"field (\S+)": [-0.10023711411248878], r"energy (\S+)": [2.228536041695417]}
        return python_program(root, "meep_waveguide.py", ["python3/dist-packages/meep/_meep.so"], values(expected, 1e-10))
    setups = {"GPAW_SETUP_PATH": f"{root}/usr/share/gpaw-setups"}
    judge = values({r"energy (\S+)": [-6.890079741250]}, 1e-9)
    return python_program(root, "gpaw_hydrogen.py", ["python3/dist-packages/_gpaw.*.so"], judge, environment=setups)


def programs(name, root):
    """Those of a name, in the folder of unpacked packages."""
    if name == "pnetcdf":
        return own_program(root, "pnetcdf_variables.c", ["pnetcdf"])
    if name == "netcdf":
        return own_program(root, "netcdf_variables.c", ["netcdf_mpi"], ["lib/x86_64-linux-gnu/netcdf/mpi/include"])
    if name == "trilinos":
        return own_program(root, "trilinos_system.cpp", ["trilinos_aztecoo", "trilinos_epetra"], ["include/trilinos"])
    if name in ("petsc", "meep", "gpaw"):
        return python(root, name)
    if name == "ray":
        return ray(root)
    one = {"abyss": abyss, "freefem": freefem, "iqtree": iqtree, "neuron": neuron, "paraview": paraview, "saturne": saturne}[name]
    return [one(root, ranks) for ranks in (2, 4)]
