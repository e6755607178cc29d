! SPDX-FileCopyrightText: 2026 the Weft authors
! SPDX-License-Identifier: BSD-3-Clause
! Windows through mpi_f08: memory by C_PTR, one-sided calls from sections with gaps, locks, attributes, shared memory.
program f08_windows
  use mpi_f08
  use, intrinsic :: iso_c_binding
  implicit none
  integer :: rank, ranks, next, last, wrong = 0
  integer(MPI_ADDRESS_KIND), parameter :: zero = 0, one = 1, two = 2
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  next = mod(rank + 1, ranks)
  last = mod(rank + ranks - 1, ranks)
  call fences
  call locks
  call shared
  call posts
  if (wrong /= 0) call MPI_Abort(MPI_COMM_WORLD, 1)
  call MPI_Finalize()

contains

  include "expect.inc"

  subroutine fences
    type(MPI_Win) :: win
    integer, asynchronous :: window(6), from(5), got(2, 3)
    integer(MPI_ADDRESS_KIND) :: value
    integer :: length
    logical :: flag
    character(len=MPI_MAX_OBJECT_NAME) :: name
    window = -1
    from = [1, 2, 3, 4, 5] + 10 * rank
    got = 0
    call MPI_Win_create(window, 24_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
    call MPI_Win_set_name(win, "cells")
    call MPI_Win_get_name(win, name, length)
    call MPI_Win_get_attr(win, MPI_WIN_SIZE, value, flag)
    call expect(name == "cells" .and. length == 5 .and. flag .and. value == 24, "MPI_WIN_SIZE")
    call MPI_Win_fence(0, win)
    call MPI_Put(from(1:5:2), 3, MPI_INTEGER, next, one, 3, MPI_INTEGER, win)
    call MPI_Win_fence(0, win)
    call expect(all(window == [-1, 1 + 10 * last, 3 + 10 * last, 5 + 10 * last, -1, -1]), "MPI_Put of a section")
    call MPI_Get(got(2, :), 3_MPI_COUNT_KIND, MPI_INTEGER, next, one, 3_MPI_COUNT_KIND, MPI_INTEGER, win)
    call MPI_Win_fence(0, win)
    call expect(all(got(2, :) == [1, 3, 5] + 10 * rank) .and. all(got(1, :) == 0), "MPI_Get into a row")
    call MPI_Accumulate(from(1:5:2), 3, MPI_INTEGER, next, one, 3, MPI_INTEGER, MPI_SUM, win)
    call MPI_Win_fence(0, win)
    call expect(all(window(2:4) == 2 * ([1, 3, 5] + 10 * last)), "MPI_Accumulate of a section")
    call MPI_Win_free(win)
    call expect(win == MPI_WIN_NULL, "MPI_Win_free")
  end subroutine fences

  subroutine locks
    type(MPI_Win) :: win
    type(MPI_Request) :: requests(2)
    type(c_ptr) :: base
    integer, pointer, asynchronous :: window(:)
    integer, asynchronous :: old, compare, new, from(4), result(4)
    call MPI_Win_allocate(16_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, win)
    call c_f_pointer(base, window, [4])
    window = 0
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win)
    call MPI_Fetch_and_op(1, old, MPI_INTEGER, 0, zero, MPI_SUM, win)
    call MPI_Win_unlock(0, win)
    call expect(old >= 0 .and. old < ranks, "MPI_Fetch_and_op")
    call MPI_Win_lock_all(0, win)
    compare = 0
    new = rank + 1
    call MPI_Compare_and_swap(new, compare, old, MPI_INTEGER, next, one, win)
    call MPI_Win_flush(next, win)
    call expect(old == 0, "MPI_Compare_and_swap")
    from = [5, 0, 6, 0]
    call MPI_Rput(from(1:4:2), 2, MPI_INTEGER, next, two, 2, MPI_INTEGER, win, requests(1))
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    call MPI_Win_flush_all(win)
    result = -1
    call MPI_Rget_accumulate(from(1:4:2), 2, MPI_INTEGER, result(2:4:2), 2, MPI_INTEGER, next, two, 2, MPI_INTEGER, MPI_SUM, win, &
                             requests(2))
    call MPI_Wait(requests(2), MPI_STATUS_IGNORE)
    call MPI_Win_flush_all(win)
    call MPI_Win_unlock_all(win)
    call MPI_Barrier(MPI_COMM_WORLD)
    call expect(all(result == [-1, 5, -1, 6]), "MPI_Rget_accumulate of sections")
    call expect(window(2) == last + 1 .and. all(window(3:4) == [10, 12]), "one-sided calls under locks")
    if (rank == 0) call expect(window(1) == ranks, "a counter")
    call MPI_Win_free(win)
  end subroutine locks

  subroutine shared
    type(MPI_Comm) :: comm
    type(MPI_Win) :: win
    type(c_ptr) :: base
    integer, pointer :: mine(:), theirs(:)
    integer :: place, count, unit
    integer(MPI_ADDRESS_KIND) :: bytes
    call MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, comm)
    call MPI_Comm_rank(comm, place)
    call MPI_Comm_size(comm, count)
    call MPI_Win_allocate_shared(8_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, comm, base, win)
    call c_f_pointer(base, mine, [2])
    mine = place
    call MPI_Win_fence(0, win)
    call MPI_Win_shared_query(win, count - 1, bytes, unit, base)
    call c_f_pointer(base, theirs, [2])
    call expect(bytes == 8 .and. unit == 4 .and. all(theirs == count - 1), "MPI_Win_shared_query")
    call MPI_Win_fence(0, win)
    call MPI_Win_free(win)
    call MPI_Comm_free(comm)
  end subroutine shared

  subroutine posts
    type(MPI_Win) :: win
    type(MPI_Group) :: world, before, behind
    integer, asynchronous :: cell
    logical :: flag
    type(c_ptr) :: memory
    integer, pointer :: numbers(:)
    call MPI_Comm_group(MPI_COMM_WORLD, world)
    call MPI_Group_incl(world, 1, [last], before)
    call MPI_Group_incl(world, 1, [next], behind)
    cell = -1
    call MPI_Win_create(cell, 4_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
    call MPI_Win_post(before, 0, win)
    call MPI_Win_start(behind, 0, win)
    call MPI_Put(rank, 1, MPI_INTEGER, next, zero, 1, MPI_INTEGER, win)
    call MPI_Win_complete(win)
    flag = .false.
    do while (.not. flag)
      call MPI_Win_test(win, flag)
    end do
    call MPI_F_sync_reg(cell)
    call expect(cell == last, "MPI_Win_post and MPI_Win_test")
    call MPI_Win_free(win)
    call MPI_Group_free(before)
    call MPI_Group_free(behind)
    call MPI_Group_free(world)
    call MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, win)
    call MPI_Alloc_mem(400_MPI_ADDRESS_KIND, MPI_INFO_NULL, memory)
    call c_f_pointer(memory, numbers, [100])
    call MPI_Win_attach(win, numbers, 400_MPI_ADDRESS_KIND)
    call MPI_Win_detach(win, numbers)
    call MPI_Free_mem(numbers)
    call MPI_Win_free(win)
  end subroutine posts
end program f08_windows
