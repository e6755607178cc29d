#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
# programs.sh MPICC MPICXX MPIFORT LAUNCHER...: compiles a program in C, C++ and Fortran by these wrappers, and runs each by
# each launcher on four ranks; its output must be right. MPIFORT may be "" where there is no Fortran.
set -euo pipefail
mpicc=$1
mpicxx=$2
mpifort=$3
shift 3
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

cat >"$place/c.c" <<'END'
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
cp "$place/c.c" "$place/cxx.cpp"
cat >"$place/fortran.f90" <<'END'
use mpi_f08
integer :: rank, total
call MPI_Init()
call MPI_Comm_rank(MPI_COMM_WORLD, rank)
call MPI_Allreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
if (rank == 0) print '(A, I0)', 'sum ', total
call MPI_Finalize()
end
END
"$mpicc" "$place/c.c" -o "$place/c"
"$mpicxx" "$place/cxx.cpp" -o "$place/cxx"
programs="c cxx"
if [ -n "$mpifort" ]; then
  "$mpifort" "$place/fortran.f90" -o "$place/fortran"
  programs+=" fortran"
fi
for program in $programs; do
  for launcher; do
    said=$("$launcher" --oversubscribe -n 4 "$place/$program")
    if [ "$said" != "sum 6" ]; then
      echo "programs.sh: $program under $launcher printed \"$said\" rather than \"sum 6\"" >&2
      exit 1
    fi
  done
  echo "$program: right on 4 ranks"
done
