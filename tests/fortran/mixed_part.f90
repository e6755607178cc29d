! SPDX-FileCopyrightText: 2026 the Weft authors
! SPDX-License-Identifier: BSD-3-Clause
! Every other row and column of a matrix, sent as a section with gaps.
subroutine send_corner(comm, matrix, n, dest, request) bind(C)
  use, intrinsic :: iso_c_binding, only: c_int
  use mpi_f08
  implicit none
  integer(c_int), value :: comm, n, dest
  integer(c_int), intent(in), asynchronous :: matrix(n, n)
  integer(c_int), intent(out) :: request
  type(MPI_Comm) :: ring
  type(MPI_Request) :: made
  ring%MPI_VAL = comm
  call MPI_Isend(matrix(1:n:2, 1:n:2), (n / 2)**2, MPI_INTEGER, dest, 7, ring, made)
  request = made%MPI_VAL
end subroutine send_corner
