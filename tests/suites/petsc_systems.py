# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Systems of linear equations by PETSc's methods and by hypre, MUMPS and SuperLU_DIST below it, and eigenvalues by SLEPc."""
import math
import sys

import petsc4py
import slepc4py

petsc4py.init(sys.argv)
slepc4py.init(sys.argv)
from petsc4py import PETSc  # noqa: E402
from slepc4py import SLEPc  # noqa: E402

SIDE, LENGTH, EIGENVALUES = 40, 100, 4
METHODS = [("cg", "jacobi", None), ("gmres", "bjacobi", None), ("cg", "gamg", None), ("bcgs", "asm", None), ("cg", "hypre", None),
           ("preonly", "lu", "mumps"), ("preonly", "lu", "superlu_dist"), ("preonly", "cholesky", "mumps")]
world = PETSc.COMM_WORLD
right = wrong = 0


def expect(correct, what):
    global right, wrong
    right, wrong = right + bool(correct), wrong + (not correct)
    if not correct and world.rank == 0:
        print("wrong:", what)


def laplacian(rows, columns):
    """The matrix of second differences on a grid."""
    matrix = PETSc.Mat().createAIJ([rows * columns, rows * columns], nnz=5, comm=world)
    for index in range(*matrix.getOwnershipRange()):
        row, column = divmod(index, columns)
        matrix[index, index] = 2.0 * (rows > 1) + 2.0 * (columns > 1)
        for a, b in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)):
            if 0 <= a < rows and 0 <= b < columns:
                matrix[index, a * columns + b] = -1.0
    matrix.assemble()
    matrix.setOption(PETSc.Mat.Option.SYMMETRIC, True)
    return matrix


def systems():
    matrix = laplacian(SIDE, SIDE)
    solution, side = matrix.createVecs()
    for index in range(*solution.getOwnershipRange()):
        solution[index] = math.sin(index)
    solution.assemble()
    matrix.mult(solution, side)
    for method, condition, package in METHODS:
        solver = PETSc.KSP().create(world)
        solver.setOperators(matrix)
        solver.setType(method)
        solver.getPC().setType(condition)
        if package:
            solver.getPC().setFactorSolverType(package)
        solver.setTolerances(rtol=1e-12, max_it=2000)
        found = side.duplicate()
        solver.solve(side, found)
        found.axpy(-1.0, solution)
        expect(solver.getConvergedReason() > 0 and found.norm(PETSc.NormType.INFINITY) < 1e-8, (method, condition, package))


def eigenvalues():
    solver = SLEPc.EPS().create(world)
    solver.setOperators(laplacian(1, LENGTH))
    solver.setProblemType(SLEPc.EPS.ProblemType.HEP)
    solver.setWhichEigenpairs(SLEPc.EPS.Which.LARGEST_REAL)
    solver.setDimensions(EIGENVALUES)
    solver.setTolerances(tol=1e-10, max_it=5000)
    solver.solve()
    expect(solver.getConverged() >= EIGENVALUES, "number of eigenvalues")
    for number in range(min(EIGENVALUES, solver.getConverged())):
        expected = 4 * math.sin((LENGTH - number) * math.pi / (2 * (LENGTH + 1))) ** 2
        expect(abs(solver.getEigenvalue(number).real - expected) < 1e-8, f"eigenvalue {number}")


systems()
eigenvalues()
if world.rank == 0:
    print(f"{world.size} ranks: {right} right, {wrong} wrong")
