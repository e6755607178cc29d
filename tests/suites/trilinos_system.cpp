// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// A system of linear equations by AztecOO of Trilinos, with each of its preconditioners that need no other package, and
// a vector that Epetra distributes anew.
#include <AztecOO.h>
#include <Epetra_CrsMatrix.h>
#include <Epetra_Import.h>
#include <Epetra_Map.h>
#include <Epetra_MpiComm.h>
#include <Epetra_Vector.h>

#include <cmath>
#include <cstdio>

namespace {

constexpr int side = 40;
long right, wrong;

void expect(bool correct) {
  ++(correct ? right : wrong);
}

void system(const Epetra_Comm& comm) {
  const Epetra_Map map(side * side, 0, comm);
  Epetra_CrsMatrix matrix(Copy, map, 5);
  for (int local = 0; local < map.NumMyElements(); ++local) {
    const int row = map.GID(local), x = row / side, y = row % side;
    double values[5] = {4};
    int columns[5] = {row}, count = 1;
    for (const int shift : {-side, side, -1, 1}) {
      const bool inside = std::abs(shift) == side ? x + shift / side >= 0 && x + shift / side < side
                                                  : y + shift >= 0 && y + shift < side;
      if (inside) values[count] = -1, columns[count++] = row + shift;
    }
    matrix.InsertGlobalValues(row, count, values, columns);
  }
  matrix.FillComplete();
  Epetra_Vector solution(map), side_of(map), found(map);
  for (int local = 0; local < map.NumMyElements(); ++local) solution[local] = std::sin(map.GID(local));
  matrix.Multiply(false, solution, side_of);
  for (const int precondition : {AZ_none, AZ_Jacobi, AZ_dom_decomp}) {
    found.PutScalar(0);
    AztecOO solver(&matrix, &found, &side_of);
    solver.SetAztecOption(AZ_solver, precondition == AZ_dom_decomp ? AZ_gmres : AZ_cg);
    solver.SetAztecOption(AZ_precond, precondition);
    solver.SetAztecOption(AZ_output, AZ_none);
    solver.Iterate(1000, 1e-12);
    found.Update(-1, solution, 1);
    double error = 1;
    found.NormInf(&error);
    expect(error < 1e-8);
  }
}

void redistribution(const Epetra_Comm& comm) {
  constexpr int elements = 10000;
  const Epetra_Map blocks(elements, 0, comm), first(elements, comm.MyPID() == 0 ? elements : 0, 0, comm);
  Epetra_Vector distributed(blocks), together(first);
  for (int local = 0; local < blocks.NumMyElements(); ++local) distributed[local] = 0.5 * blocks.GID(local);
  together.Import(distributed, Epetra_Import(first, blocks), Insert);
  for (int i = 0; i < together.MyLength(); ++i) expect(together[i] == 0.5 * i);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    const Epetra_MpiComm comm(MPI_COMM_WORLD);
    system(comm);
    redistribution(comm);
    long counts[2] = {right, wrong}, all[2] = {};
    comm.SumAll(counts, all, 2);
    if (comm.MyPID() == 0) std::printf("%d ranks: %ld right, %ld wrong\n", comm.NumProc(), all[0], all[1]);
  }
  MPI_Finalize();
}
