! SPDX-FileCopyrightText: 2026 the Weft authors
! SPDX-License-Identifier: BSD-3-Clause
! A program of one compiler with a library of another (mixed_part.f90): each has modules of its own, the library of MPI
! is one. Handles and requests go from the one to the other.
program mixed
  use mpi_f08
  implicit none
  interface
    subroutine send_corner(comm, matrix, n, dest, request) bind(C)
      use, intrinsic :: iso_c_binding, only: c_int
      integer(c_int), value :: comm, n, dest
      integer(c_int), intent(in) :: matrix(n, n)
      integer(c_int), intent(out) :: request
    end subroutine send_corner
  end interface
  integer, asynchronous :: matrix(6, 6), got(9)
  integer :: rank, ranks, next, before, i, number
  type(MPI_Comm) :: ring
  type(MPI_Request) :: request
  type(MPI_Status) :: status
  call MPI_Init()
  call MPI_Comm_dup(MPI_COMM_WORLD, ring)
  call MPI_Comm_rank(ring, rank)
  call MPI_Comm_size(ring, ranks)
  next = modulo(rank + 1, ranks)
  before = modulo(rank - 1, ranks)
  matrix = reshape([(100 * rank + i, i=1, 36)], [6, 6])
  call send_corner(ring%MPI_VAL, matrix, 6, next, number)
  request%MPI_VAL = number
  call MPI_Recv(got, 9, MPI_INTEGER, before, 7, ring, status)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  if (request /= MPI_REQUEST_NULL .or. status%MPI_SOURCE /= before) error stop "the request or the status is wrong"
  if (any(got /= 100 * before + [1, 3, 5, 13, 15, 17, 25, 27, 29])) error stop "the section is wrong"
  call MPI_Comm_free(ring)
  call MPI_Finalize()
end program mixed
