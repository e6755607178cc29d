! SPDX-FileCopyrightText: 2026 the Weft authors
! SPDX-License-Identifier: BSD-3-Clause
! Messages through the module mpi: integer handles, statuses as arrays.
program module_mpi
  use mpi
  implicit none
  integer :: rank, ranks, next, last, ierror, request, row, status(MPI_STATUS_SIZE), table(3, 5)

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  next = mod(rank + 1, ranks)
  last = mod(rank + ranks - 1, ranks)
  table = rank
  call MPI_Type_vector(5, 1, 3, MPI_INTEGER, row, ierror)
  call MPI_Type_commit(row, ierror)
  call MPI_Isend(table(2, 1), 1, row, next, 3, MPI_COMM_WORLD, request, ierror)
  call MPI_Recv(table(3, :), 5, MPI_INTEGER, last, MPI_ANY_TAG, MPI_COMM_WORLD, status, ierror)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
  if (ierror /= MPI_SUCCESS .or. status(MPI_SOURCE) /= last .or. status(MPI_TAG) /= 3) call wrong("the status")
  if (any(table(3, :) /= last) .or. any(table(1:2, :) /= rank)) call wrong("a row")
  call MPI_Type_free(row, ierror)
  if (row /= MPI_DATATYPE_NULL) call wrong("the freed datatype")
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  call MPI_Finalize(ierror)

contains
  subroutine wrong(what)
    character(*), intent(in) :: what
    print *, "rank", rank, ": wrong: ", what
    call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
  end subroutine wrong
end program module_mpi
