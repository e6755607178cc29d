! SPDX-FileCopyrightText: 2026 the Weft authors
! SPDX-License-Identifier: BSD-3-Clause
! The module mpi takes descriptors of buffers: sections with gaps in nonblocking, persistent and collective calls, whole
! arrays and elements as programs have always passed them, arrays of unknown size, constants, texts, no array at all.
program module_sections
  use mpi
  implicit none
  type point
    integer :: id
    double precision :: x(2)
  end type point
  integer :: ierror, rank, ranks, next, last, wrong
  wrong = 0
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  next = mod(rank + 1, ranks)
  last = mod(rank + ranks - 1, ranks)
  call expect(MPI_SUBARRAYS_SUPPORTED .and. MPI_ASYNC_PROTECTS_NONBLOCKING, "what the module says of its buffers")
  call rows
  call kept
  call collectives
  call old_ways
  call windows
  if (wrong /= 0) call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
  call MPI_Finalize(ierror)

contains

  include "expect.inc"

  subroutine rows
    double precision, asynchronous :: sent(3, 5), got(3, 5)
    integer :: requests(2), statuses(MPI_STATUS_SIZE, 2), count, i
    sent = reshape([(100d0 * rank + i, i = 1, 15)], shape(sent))
    got = -1
    call MPI_Irecv(got(3, :), 5, MPI_DOUBLE_PRECISION, last, 1, MPI_COMM_WORLD, requests(1), ierror)
    call MPI_Isend(sent(1, 5:1:-1), 5, MPI_DOUBLE_PRECISION, next, 1, MPI_COMM_WORLD, requests(2), ierror)
    call MPI_Waitall(2, requests, statuses, ierror)
    call MPI_F_sync_reg(got)
    call MPI_Get_count(statuses(:, 1), MPI_DOUBLE_PRECISION, count, ierror)
    call expect(count == 5 .and. statuses(MPI_SOURCE, 1) == last, "the status")
    call expect(all(got(3, :) == 100d0 * last + [13, 10, 7, 4, 1]) .and. all(got(1:2, :) == -1), "a row, backwards")
  end subroutine rows

  subroutine kept
    integer, asynchronous :: sent(2, 4), got(8)
    integer :: requests(2), turn
    call MPI_Send_init(sent(2, :), 4, MPI_INTEGER, next, 2, MPI_COMM_WORLD, requests(1), ierror)
    call MPI_Recv_init(got(1:8:2), 4, MPI_INTEGER, last, 2, MPI_COMM_WORLD, requests(2), ierror)
    do turn = 1, 3
      sent(1, :) = -1
      sent(2, :) = 10 * turn + rank
      got = 0
      call MPI_Startall(2, requests, ierror)
      call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierror)
      call expect(all(got(1:8:2) == 10 * turn + last) .and. all(got(2:8:2) == 0), "a persistent message")
    end do
    call MPI_Request_free(requests(1), ierror)
    call MPI_Request_free(requests(2), ierror)
  end subroutine kept

  subroutine collectives
    integer, asynchronous :: row(3, ranks), all_of(2, ranks)
    integer, allocatable :: at_root(:)
    integer :: request
    all_of = -1
    call MPI_Iallgather(rank, 1, MPI_INTEGER, all_of(2, :), 1, MPI_INTEGER, MPI_COMM_WORLD, request, ierror)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    call expect(all(all_of(1, :) == -1) .and. sum(all_of(2, :)) == ranks * (ranks - 1) / 2, "a row of blocks")
    row = rank
    call MPI_Allreduce(MPI_IN_PLACE, row(2, :), ranks, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    call expect(all(row(2, :) == ranks * (ranks - 1) / 2) .and. all(row(1:3:2, :) == rank), "MPI_IN_PLACE with a row")
    if (rank == 0) allocate (at_root(ranks))
    call MPI_Gather(rank, 1, MPI_INTEGER, at_root, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
    call expect(ierror == MPI_SUCCESS, "an array that other ranks have not")
    if (rank == 0) call expect(sum(at_root) == ranks * (ranks - 1) / 2, "MPI_Gather")
  end subroutine collectives

  ! An element stands for those behind it; an array of another type for its bytes.
  subroutine old_ways
    integer :: numbers(10), i
    integer, parameter :: constant(2) = [7, 8]
    character(len=5) :: word
    type(point) :: places(2)
    numbers = [(rank * 10 + i, i = 1, 10)]
    call MPI_Bcast(numbers(4), 3, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
    call expect(all(numbers(4:6) == [4, 5, 6]) .and. numbers(7) == rank * 10 + 7, "from an element on")
    call unknown_size(numbers, 10)
    call expect(all(numbers == 5), "an array of unknown size")
    call MPI_Sendrecv(constant, 2, MPI_INTEGER, next, 3, numbers, 10, MPI_INTEGER, last, 3, MPI_COMM_WORLD, &
                      MPI_STATUS_IGNORE, ierror)
    call expect(all(numbers(1:3) == [7, 8, 5]), "a constant")
    word = merge("hello", "-----", rank == 0)
    call MPI_Bcast(word, 5, MPI_CHARACTER, 0, MPI_COMM_WORLD, ierror)
    call expect(word == "hello", "a text")
    places = point(rank, [1d0, 2d0])
    call MPI_Bcast(places, storage_size(places) / 8 * 2, MPI_BYTE, ranks - 1, MPI_COMM_WORLD, ierror)
    call expect(all(places%id == ranks - 1), "a derived type")
    places%id = rank
    call MPI_Bcast(places%id, 2, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
    call expect(all(places%id == 0) .and. places(2)%x(2) == 2d0, "one part of each")
  end subroutine old_ways

  subroutine unknown_size(numbers, n)
    integer, intent(in) :: n
    integer, intent(inout) :: numbers(*)
    if (rank == 0) numbers(1:n) = 5
    call MPI_Bcast(numbers, n, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
  end subroutine unknown_size

  subroutine windows
    integer, asynchronous :: memory(6), given(3, 2)
    integer :: win
    memory = 0
    given = 50 + rank
    call MPI_Win_create(memory, 24_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierror)
    call MPI_Win_fence(0, win, ierror)
    call MPI_Put(given(2, :), 2, MPI_INTEGER, next, 1_MPI_ADDRESS_KIND, 2, MPI_INTEGER, win, ierror)
    call MPI_Win_fence(0, win, ierror)
    call expect(all(memory == [0, 50 + last, 50 + last, 0, 0, 0]), "MPI_Put of a row")
    call MPI_Win_free(win, ierror)
  end subroutine windows
end program module_sections
