! SPDX-FileCopyrightText: 2026 the Weft authors
! SPDX-License-Identifier: BSD-3-Clause
! MUMPS solves systems of a grid in three dimensions, whose planes of points the ranks have in turn: a matrix without symmetry, a
! symmetric positive definite one and one that is symmetric alone. The solution is known. Prints how many values were right.
program mumps_grid
  use mpi
  implicit none
  include "dmumps_struc.h"
  integer, parameter :: edge = 28, points = edge**3
  type(dmumps_struc) :: system
  integer :: ranks, rank, error, symmetry, i, counts(2)

  call MPI_Init(error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  counts = 0
  do symmetry = 0, 2
    system%comm = MPI_COMM_WORLD
    system%sym = symmetry
    system%par = 1
    system%job = -1
    call dmumps(system)
    system%icntl(1:4) = [0, 0, 0, 0]
    ! Ranks choose those that help with a front as they work, so the memory that one needs varies beyond the estimate.
    system%icntl(14) = 200
    system%icntl(18) = 3
    system%n = points
    call fill()
    system%job = 6
    call dmumps(system)
    call judge(system%infog(1) == 0)
    if (rank == 0) then
      do i = 1, points
        call judge(abs(system%rhs(i) - solution(i)) < 1d-9)
      end do
      deallocate(system%rhs)
    end if
    deallocate(system%irn_loc, system%jcn_loc, system%a_loc)
    system%job = -2
    call dmumps(system)
  end do
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

  pure double precision function solution(point)
    integer, intent(in) :: point
    solution = 1 + mod(point, 11)
  end function solution

  ! A point and its six neighbours; of a symmetric matrix the lower half is given.
  subroutine fill()
    double precision :: product(points), nothing(1), element
    integer :: x, y, z, point, other, direction, place(3)
    allocate(system%irn_loc(7 * points), system%jcn_loc(7 * points), system%a_loc(7 * points))
    system%nnz_loc = 0
    product = 0
    do z = rank, edge - 1, ranks
      do y = 0, edge - 1
        do x = 0, edge - 1
          point = (z * edge + y) * edge + x + 1
          do direction = -3, 3
            place = [x, y, z]
            if (direction /= 0) place(abs(direction)) = place(abs(direction)) + sign(1, direction)
            if (any(place < 0 .or. place >= edge)) cycle
            other = (place(3) * edge + place(2)) * edge + place(1) + 1
            element = merge(6.5d0, -1d0, direction == 0)
            if (symmetry == 0 .and. direction > 0) element = -1.1d0
            if (symmetry == 2 .and. direction == 0 .and. mod(point, 3) == 0) element = -6.5d0
            product(point) = product(point) + element * solution(other)
            if (symmetry > 0 .and. other > point) cycle
            system%nnz_loc = system%nnz_loc + 1
            system%irn_loc(system%nnz_loc) = point
            system%jcn_loc(system%nnz_loc) = other
            system%a_loc(system%nnz_loc) = element
          end do
        end do
      end do
    end do
    if (rank == 0) allocate(system%rhs(points))
    if (rank == 0) then
      call MPI_Reduce(product, system%rhs, points, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, error)
    else
      call MPI_Reduce(product, nothing, points, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, error)
    end if
  end subroutine fill
end program mumps_grid
