# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Table of debian.py: more programs that Debian has for Open MPI alone. Numbers are those under Debian's Open MPI 4.1.4."""
from debian_program import own_program

PACKAGES = {
    "netcdf": ["libnetcdf-mpi-dev", "libopenmpi-dev"],
    "pnetcdf": ["libpnetcdf-dev", "libopenmpi-dev"],
    "trilinos": ["libtrilinos-aztecoo-dev", "libtrilinos-epetra-dev", "libtrilinos-teuchos-dev", "libtrilinos-triutils-dev",
                  "libopenmpi-dev"],
}


def programs(name, root):
    """Those of a name, in the folder of unpacked packages."""
    if name == "pnetcdf":
        return own_program(root, "pnetcdf_variables.c", ["pnetcdf"])
    if name == "netcdf":
        return own_program(root, "netcdf_variables.c", ["netcdf_mpi"], ["lib/x86_64-linux-gnu/netcdf/mpi/include"])
    if name == "trilinos":
        return own_program(root, "trilinos_system.cpp", ["trilinos_aztecoo", "trilinos_epetra"], ["include/trilinos"])
    raise KeyError(name)
