! SPDX-FileCopyrightText: 2026 the Weft authors
! SPDX-License-Identifier: BSD-3-Clause
! ELPA finds the eigenvalues and eigenvectors of a symmetric and of a Hermitian matrix by its solvers of one and of two stages.
! The eigenvalues are 1, 2, 3, ..., as each matrix is a diagonal one that a reflection transforms. Prints how many were right.
program elpa_solvers
  use elpa
  use mpi
  implicit none
  integer, parameter :: order = 150, block = 8
  integer :: ranks, rank, error, rows, columns, row, column, solvers(2), i, counts(2)
  integer, allocatable :: row_of(:), column_of(:)

  call MPI_Init(error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  rows = merge(2, 1, mod(ranks, 2) == 0)
  columns = ranks / rows
  row = mod(rank, rows)
  column = rank / rows
  row_of = indexes(rows, row)
  column_of = indexes(columns, column)
  counts = 0
  solvers = [ELPA_SOLVER_1STAGE, ELPA_SOLVER_2STAGE]
  call judge(elpa_init(20171201) == ELPA_OK)
  do i = 1, 2
    call symmetric(solvers(i))
    call hermitian(solvers(i))
  end do
  call elpa_uninit(error)
  if (rank == 0) print '(i0, a, i0, a, i0, a)', ranks, " ranks: ", counts(1), " right, ", counts(2), " wrong"
  call MPI_Finalize(error)

contains

  subroutine judge(right)
    logical, intent(in) :: right
    if (right) then
      counts(1) = counts(1) + 1
    else
      counts(2) = counts(2) + 1
    end if
  end subroutine judge

  ! The rows or columns of the matrix that a rank has in a block-cyclic distribution.
  function indexes(parts, part) result(some)
    integer, intent(in) :: parts, part
    integer, allocatable :: some(:)
    integer :: place
    some = pack([(place, place = 1, order)], [(mod((place - 1) / block, parts) == part, place = 1, order)])
  end function indexes

  function solver(kind_of_solver) result(it)
    integer, intent(in) :: kind_of_solver
    class(elpa_t), pointer :: it
    it => elpa_allocate(error)
    call judge(error == ELPA_OK)
    call it%set("na", order, error)
    call it%set("nev", order, error)
    call it%set("local_nrows", size(row_of), error)
    call it%set("local_ncols", size(column_of), error)
    call it%set("nblk", block, error)
    call it%set("mpi_comm_parent", MPI_COMM_WORLD, error)
    call it%set("process_row", row, error)
    call it%set("process_col", column, error)
    call judge(it%setup() == ELPA_OK)
    call it%set("solver", kind_of_solver, error)
    call judge(error == ELPA_OK)
  end function solver

  ! A reflection I - 2 u u^H of a unit vector u transforms the diagonal matrix.
  elemental complex(kind(1d0)) function element(i, j, phase)
    integer, intent(in) :: i, j
    double precision, intent(in) :: phase
    double precision :: total, mean
    integer :: k
    total = sum([(dble(1 + mod(k, 7))**2, k = 1, order)])
    mean = sum([(k * dble(1 + mod(k, 7))**2, k = 1, order)]) / total
    element = (4 * mean - 2 * (i + j)) * (1 + mod(i, 7)) * (1 + mod(j, 7)) / total * exp(cmplx(0d0, phase * (i - j), kind(1d0)))
    if (i == j) element = element + i
  end function element

  ! Each rank has all elements of the matrix and of the eigenvectors to check them.
  subroutine check(values, vectors, phase)
    double precision, intent(in) :: values(order), phase
    complex(kind(1d0)), intent(in) :: vectors(:, :)
    complex(kind(1d0)) :: parts(order, order), all(order, order), matrix(order, order)
    integer :: i, j
    parts = 0
    parts(row_of, column_of) = vectors
    call MPI_Allreduce(parts, all, order * order, MPI_DOUBLE_COMPLEX, MPI_SUM, MPI_COMM_WORLD, error)
    do j = 1, order
      matrix(:, j) = element([(i, i = 1, order)], j, phase)
    end do
    parts = matmul(matrix, all)
    do j = 1, order
      call judge(abs(values(j) - j) < 1d-9)
      call judge(maxval(abs(parts(:, j) - j * all(:, j))) < 1d-9 .and. abs(sum(abs(all(:, j))**2) - 1) < 1d-9)
    end do
  end subroutine check

  subroutine symmetric(kind_of_solver)
    integer, intent(in) :: kind_of_solver
    class(elpa_t), pointer :: it
    double precision, allocatable :: matrix(:, :), vectors(:, :)
    double precision :: values(order)
    integer :: j
    it => solver(kind_of_solver)
    allocate(matrix(size(row_of), size(column_of)), vectors(size(row_of), size(column_of)))
    do j = 1, size(column_of)
      matrix(:, j) = real(element(row_of, column_of(j), 0d0))
    end do
    call it%eigenvectors(matrix, values, vectors, error)
    call judge(error == ELPA_OK)
    call check(values, cmplx(vectors, kind=kind(1d0)), 0d0)
    call elpa_deallocate(it, error)
  end subroutine symmetric

  subroutine hermitian(kind_of_solver)
    integer, intent(in) :: kind_of_solver
    double precision, parameter :: phase = 0.37d0
    class(elpa_t), pointer :: it
    complex(kind(1d0)), allocatable :: matrix(:, :), vectors(:, :)
    double precision :: values(order)
    integer :: j
    it => solver(kind_of_solver)
    allocate(matrix(size(row_of), size(column_of)), vectors(size(row_of), size(column_of)))
    do j = 1, size(column_of)
      matrix(:, j) = element(row_of, column_of(j), phase)
    end do
    call it%eigenvectors(matrix, values, vectors, error)
    call judge(error == ELPA_OK)
    call check(values, vectors, phase)
    call elpa_deallocate(it, error)
  end subroutine hermitian
end program elpa_solvers
