# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Table of debian.py: more programs that Debian has for Open MPI alone. Numbers are those under Debian's Open MPI 4.1.4."""
from debian_program import SOURCES, Program, own_program, python_program, values

PACKAGES = {
    "freefem": ["freefem++"],
    "gpaw": ["gpaw", "gpaw-data"],
    "meep": ["python3-meep-openmpi"],
    "netcdf": ["libnetcdf-mpi-dev", "libopenmpi-dev"],
    "neuron": ["neuron"],
    "paraview": ["paraview", "python3-paraview", "python3-mpi4py"],
    "petsc": ["python3-petsc4py-real3.18", "python3-slepc4py-real3.18"],
    "pnetcdf": ["libpnetcdf-dev", "libopenmpi-dev"],
    "trilinos": ["libtrilinos-aztecoo-dev", "libtrilinos-epetra-dev", "libtrilinos-teuchos-dev", "libtrilinos-triutils-dev",
                  "libopenmpi-dev"],
}
SURFACE = {2: 26852, 4: 28328}  # cells, with those that two ranks have


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
    one = {"freefem": freefem, "neuron": neuron, "paraview": paraview}[name]
    return [one(root, ranks) for ranks in (2, 4)]
