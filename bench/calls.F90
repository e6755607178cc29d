! SPDX-FileCopyrightText: 2026 the Weft authors
! SPDX-License-Identifier: BSD-3-Clause
! calls.c through mpi_f08: everything called from a procedure count_* is taken by instructions.py.
!   f08_calls N
! Ranks 0 and 1 run N rounds of 16 messages of 8 bytes; receives are posted before their messages are sent.
module counted
  use mpi_f08
  implicit none
  integer, parameter :: batch = 16
  integer, asynchronous :: data(2, batch)
  type(MPI_Request) :: requests(batch)

contains

  subroutine count_isend
    integer :: i
    do i = 1, batch
      call MPI_Isend(data(:, i), 2, MPI_INTEGER, 1, 1, MPI_COMM_WORLD, requests(i))
    end do
  end subroutine count_isend

  subroutine count_irecv
    integer :: i
    do i = 1, batch
      call MPI_Irecv(data(:, i), 2, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, requests(i))
    end do
  end subroutine count_irecv
end module counted

program calls
  use mpi_f08
  use counted
  implicit none
  integer :: rank, rounds, n, i
  character(len=20) :: text
  call get_command_argument(1, text)
  read (text, *) rounds
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  do n = 1, rounds
    if (rank == 0) then
      data = n
      call MPI_Recv(i, 0, MPI_INTEGER, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
      call count_isend
      call MPI_Recv(i, 0, MPI_INTEGER, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
      call MPI_Waitall(batch, requests, MPI_STATUSES_IGNORE)
    else if (rank == 1) then
      call count_irecv
      call MPI_Send(i, 0, MPI_INTEGER, 0, 2, MPI_COMM_WORLD)
      call MPI_Waitall(batch, requests, MPI_STATUSES_IGNORE)
      call MPI_Send(i, 0, MPI_INTEGER, 0, 2, MPI_COMM_WORLD)
      if (any(data /= n)) error stop "a message arrived with wrong numbers"
    end if
  end do
  call MPI_Barrier(MPI_COMM_WORLD)
  call MPI_Finalize()
end program calls
