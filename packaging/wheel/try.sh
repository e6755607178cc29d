#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
# try.sh WHEEL: installs the wheel and mpi4py's in a fresh virtual environment, runs programs in Python, C, C++ and Fortran on
# four ranks, and removes it again: no file may be left.
set -euo pipefail
wheel=$(readlink -f "$1")
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place"
python3 -m venv v
files() { find v -not -type d -not -name '*.pyc' | sort; }
v/bin/pip install -q mpi4py
files >before
v/bin/pip install -q "$wheel"

v/bin/mpiexec --oversubscribe -n 4 v/bin/python -m mpi4py.bench helloworld | tee said
[ "$(grep -c 'of 4' said)" = 4 ]
v/bin/python -c 'from mpi4py import MPI; assert MPI.COMM_WORLD.size == 1 and "Weft" in MPI.Get_library_version()'

cat >c.c <<'END'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
  int rank, sum;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("sum %d\n", sum);
  return MPI_Finalize();
}
END
cp c.c cxx.cpp
cat >fortran.f90 <<'END'
use mpi_f08
integer :: rank, total
call MPI_Init()
call MPI_Comm_rank(MPI_COMM_WORLD, rank)
call MPI_Allreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
if (rank == 0) print '(A, I0)', 'sum ', total
call MPI_Finalize()
end
END
v/bin/mpicc c.c -o c
v/bin/mpicxx cxx.cpp -o cxx
programs="c cxx"
if [ -x v/bin/mpifort ]; then
  v/bin/mpifort fortran.f90 -o fortran
  programs+=" fortran"
fi
for program in $programs; do
  for launcher in mpiexec mpirun; do
    [ "$(v/bin/$launcher --oversubscribe -n 4 ./$program)" = "sum 6" ]
  done
  echo "$program: right on 4 ranks"
done
v/bin/weft selftest
v/bin/pip uninstall -q -y weft-mpi
files >after
diff before after
echo "removed without a file left"
