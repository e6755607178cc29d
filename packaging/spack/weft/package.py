# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Weft for Spack. No archive is published yet, so it builds from a checkout:

    spack repo create weft-repo && cp -r packaging/spack/weft weft-repo/packages/ && spack repo add weft-repo
    spack install --add weft@0.1.0 dev_path=$PWD

It was written by Spack's documentation (0.23) and has not been tried."""
from spack.package import *


class Weft(CMakePackage):
    """MPI with the standard ABI of MPI-5, OpenSHMEM, and libraries that run programs built for MPICH, Intel MPI and Open MPI."""

    maintainers = []
    license("BSD-3-Clause")
    version("0.1.0")

    provides("mpi@:5.0")
    variant("fortran", default=True, description="mpif.h, and the modules mpi and mpi_f08")
    variant("metis", default=True, description="weft order --from divides graphs")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("cmake@3.22:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.9:", type="build")
    depends_on("hwloc@2:")
    depends_on("metis", when="+metis")
    # Headers alone: the libraries are loaded where a job has several hosts.
    depends_on("libfabric", type=("build", "run"))
    depends_on("ucx@1.12:", type=("build", "run"))
    requires("%gcc@11:", "%clang@14:", policy="any_of")

    def cmake_args(self):
        return [self.define("WEFT_TESTS", False), self.define_from_variant("WEFT_METIS", "metis")]

    def setup_dependent_package(self, module, dependent_spec):
        self.spec.mpicc = self.prefix.bin.mpicc
        self.spec.mpicxx = self.prefix.bin.mpicxx
        self.spec.mpifc = self.spec.mpif77 = self.prefix.bin.mpifort
