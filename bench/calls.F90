! SPDX-FileCopyrightText: 2026 the Weft authors
! SPDX-License-Identifier: BSD-3-Clause
! calls.c and puts.c through mpi_f08, or through mpif.h with WEFT_MPIF_H: everything called from a procedure count_* is
! taken by instructions.py.
!   f08_calls N
! Ranks 0 and 1 run N rounds of 16 messages of 8 bytes; receives are posted before their messages are sent. Then rank 0
! puts and gets as many.
#ifdef WEFT_MPIF_H
#define HANDLE(kind) integer
#define ADDRESS integer(MPI_ADDRESS_KIND)
#else
#define HANDLE(kind) type(kind)
#define ADDRESS type(c_ptr)
#endif
module counted
#ifndef WEFT_MPIF_H
  use mpi_f08
#endif
  use, intrinsic :: iso_c_binding, only: c_ptr
  implicit none
#ifdef WEFT_MPIF_H
  include 'mpif.h'
#endif
  integer, parameter :: batch = 16
  integer, asynchronous :: data(2, batch), back(2, batch)
  HANDLE(MPI_Request) :: requests(batch)
  HANDLE(MPI_Win) :: window
  integer :: ierror

contains

  subroutine count_isend
    integer :: i
    do i = 1, batch
      call MPI_Isend(data(:, i), 2, MPI_INTEGER, 1, 1, MPI_COMM_WORLD, requests(i), ierror)
    end do
  end subroutine count_isend

  subroutine count_irecv
    integer :: i
    do i = 1, batch
      call MPI_Irecv(data(:, i), 2, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, requests(i), ierror)
    end do
  end subroutine count_irecv

  subroutine count_put
    integer :: i
    do i = 1, batch
      call MPI_Put(data(:, i), 2, MPI_INTEGER, 1, int(i - 1, MPI_ADDRESS_KIND), 2, MPI_INTEGER, window, ierror)
    end do
  end subroutine count_put

  subroutine count_get
    integer :: i
    do i = 1, batch
      call MPI_Get(back(:, i), 2, MPI_INTEGER, 1, int(i - 1, MPI_ADDRESS_KIND), 2, MPI_INTEGER, window, ierror)
    end do
  end subroutine count_get

  subroutine messages(rank, rounds)
    integer, intent(in) :: rank, rounds
    integer :: n, nothing(1)
    do n = 1, rounds
      if (rank == 0) then
        data = n
        call MPI_Recv(nothing, 0, MPI_INTEGER, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
        call count_isend
        call MPI_Recv(nothing, 0, MPI_INTEGER, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
        call MPI_Waitall(batch, requests, MPI_STATUSES_IGNORE, ierror)
      else if (rank == 1) then
        call count_irecv
        call MPI_Send(nothing, 0, MPI_INTEGER, 0, 2, MPI_COMM_WORLD, ierror)
        call MPI_Waitall(batch, requests, MPI_STATUSES_IGNORE, ierror)
        call MPI_Send(nothing, 0, MPI_INTEGER, 0, 2, MPI_COMM_WORLD, ierror)
        if (any(data /= n)) error stop "a message arrived with wrong numbers"
      end if
    end do
  end subroutine messages

  subroutine updates(rank, rounds)
    integer, intent(in) :: rank, rounds
    integer :: n
    ADDRESS :: memory
    call MPI_Win_allocate(int(8 * batch, MPI_ADDRESS_KIND), 8, MPI_INFO_NULL, MPI_COMM_WORLD, memory, window, ierror)
    call MPI_Win_lock_all(MPI_MODE_NOCHECK, window, ierror)
    if (rank == 0) then
      ! Not counted: the first to a rank does more, and not always as much.
      call MPI_Put(data(:, 1), 2, MPI_INTEGER, 1, 0_MPI_ADDRESS_KIND, 2, MPI_INTEGER, window, ierror)
      call MPI_Win_flush(1, window, ierror)
      do n = 1, rounds
        data = n
        call count_put
        call MPI_Win_flush(1, window, ierror)
        call count_get
        call MPI_Win_flush(1, window, ierror)
        if (any(back /= n)) error stop "a get brought wrong numbers"
      end do
    end if
    call MPI_Win_unlock_all(window, ierror)
    call MPI_Win_free(window, ierror)
  end subroutine updates
end module counted

program calls
  use counted
  implicit none
  integer :: rank, rounds
  character(len=20) :: text
  call get_command_argument(1, text)
  read (text, *) rounds
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call messages(rank, rounds)
  call updates(rank, rounds)
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  call MPI_Finalize(ierror)
end program calls
