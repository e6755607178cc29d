! SPDX-FileCopyrightText: 2026 the Weft authors
! SPDX-License-Identifier: BSD-3-Clause
! A tool in C sees each MPI_Isend of mpi_f08, and no PMPI_Isend.
program f08_tool
  use mpi_f08
  use, intrinsic :: iso_c_binding
  implicit none
  interface
    integer(c_int) function tool_calls() bind(C)
      import :: c_int
    end function tool_calls
  end interface
  integer, asynchronous :: from(4)
  integer :: rank, got(2), i, wrong = 0
  type(MPI_Request) :: requests(5)
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  from = [1, 2, 3, 4]
  do i = 1, 3
    call MPI_Isend(from, 2, MPI_INTEGER, rank, i, MPI_COMM_WORLD, requests(i))
  end do
  call MPI_Isend(from(1:4:2), 2, MPI_INTEGER, rank, 4, MPI_COMM_WORLD, requests(4))
  call expect(tool_calls() == 4, "calls that the tool has seen")
  call PMPI_Isend(from, 2, MPI_INTEGER, rank, 5, MPI_COMM_WORLD, requests(5))
  call expect(tool_calls() == 4, "a call that is not the tool's")
  do i = 1, 5
    call MPI_Recv(got, 2, MPI_INTEGER, rank, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call expect(all(got == merge([1, 3], [1, 2], i == 4)), "the messages")
  end do
  call MPI_Waitall(5, requests, MPI_STATUSES_IGNORE)
  if (wrong /= 0) call MPI_Abort(MPI_COMM_WORLD, 1)
  call MPI_Finalize()

contains

  include "expect.inc"
end program f08_tool
