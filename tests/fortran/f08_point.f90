! SPDX-FileCopyrightText: 2026 the Weft authors
! SPDX-License-Identifier: BSD-3-Clause
! Point-to-point messages through mpi_f08: all modes, requests and statuses in arrays, matched probes, buffers.
program f08_point
  use mpi_f08
  use, intrinsic :: iso_c_binding
  implicit none
  integer :: rank, ranks, next, last, wrong = 0
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  next = mod(rank + 1, ranks)
  last = mod(rank + ranks - 1, ranks)
  call modes
  call several
  call persistent
  call matched
  call exchanges
  call buffers
  call statuses
  call derived
  call failures
  if (wrong /= 0) call MPI_Abort(MPI_COMM_WORLD, 1)
  call MPI_Finalize()

contains

  include "expect.inc"

  ! Every mode, blocking and not, with a count of each kind, from every second element into every third one.
  subroutine modes
    integer, asynchronous :: from(10, 8), into(15, 8)
    type(MPI_Request) :: requests(8)
    integer :: i
    from = reshape([(1000 * rank + i, i = 1, 80)], shape(from))
    into = -1
    do i = 1, 8
      if (mod(i, 2) == 0) call MPI_Irecv(into(1:15:3, i), 5, MPI_INTEGER, last, i, MPI_COMM_WORLD, requests(i))
      if (mod(i, 2) == 1) call MPI_Irecv(into(1:15:3, i), 5_MPI_COUNT_KIND, MPI_INTEGER, last, i, MPI_COMM_WORLD, requests(i))
    end do
    call MPI_Barrier(MPI_COMM_WORLD)
    block
      type(MPI_Request) :: sends(4)
      call MPI_Send(from(1:10:2, 1), 5_MPI_COUNT_KIND, MPI_INTEGER, next, 1, MPI_COMM_WORLD)
      call MPI_Ssend(from(1:10:2, 2), 5, MPI_INTEGER, next, 2, MPI_COMM_WORLD)
      call MPI_Rsend(from(1:10:2, 3), 5, MPI_INTEGER, next, 3, MPI_COMM_WORLD)
      call MPI_Isend(from(1:10:2, 4), 5, MPI_INTEGER, next, 4, MPI_COMM_WORLD, sends(1))
      call MPI_Issend(from(1:10:2, 5), 5, MPI_INTEGER, next, 5, MPI_COMM_WORLD, sends(2))
      call MPI_Irsend(from(1:10:2, 6), 5, MPI_INTEGER, next, 6, MPI_COMM_WORLD, sends(3))
      call MPI_Isend(from(1:10:2, 7), 5_MPI_COUNT_KIND, MPI_INTEGER, next, 7, MPI_COMM_WORLD, sends(4))
      call MPI_Send(from(1:10:2, 8), 5, MPI_INTEGER, next, 8, MPI_COMM_WORLD)
      call MPI_Waitall(4, sends, MPI_STATUSES_IGNORE)
      call expect(all(sends == MPI_REQUEST_NULL), "MPI_Waitall")
    end block
    call MPI_Waitall(8, requests, MPI_STATUSES_IGNORE)
    do i = 1, 8
      call expect(all(into(1:15:3, i) == 1000 * last + 10 * (i - 1) + [1, 3, 5, 7, 9]), "a mode")
      call expect(all(into(2:15:3, i) == -1) .and. all(into(3:15:3, i) == -1), "what lies between received elements")
    end do
  end subroutine modes

  subroutine several
    integer, asynchronous :: got(4)
    integer :: i, index, done, indices(4), taken
    type(MPI_Request) :: requests(4)
    type(MPI_Status) :: found(4), one
    logical :: flag
    got = -1
    do i = 1, 4
      call MPI_Irecv(got(i), 1, MPI_INTEGER, last, 20 + i, MPI_COMM_WORLD, requests(i))
    end do
    call MPI_Testany(4, requests, index, flag, one)
    call MPI_Barrier(MPI_COMM_WORLD)
    call expect(.not. flag, "MPI_Testany before the messages")
    call MPI_Send(7, 1, MPI_INTEGER, next, 23, MPI_COMM_WORLD)
    call MPI_Waitany(4, requests, index, one)
    call expect(index == 3 .and. one%MPI_TAG == 23 .and. got(3) == 7, "MPI_Waitany counts from 1")
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_Send(8, 1, MPI_INTEGER, next, 21, MPI_COMM_WORLD)
    call MPI_Send(9, 1, MPI_INTEGER, next, 24, MPI_COMM_WORLD)
    taken = 0
    do while (taken < 2)
      call MPI_Waitsome(4, requests, done, indices, found)
      do i = 1, done
        call expect(found(i)%MPI_TAG == 20 + indices(i) .and. found(i)%MPI_SOURCE == last, "MPI_Waitsome counts from 1")
      end do
      taken = taken + done
    end do
    call expect(got(1) == 8 .and. got(4) == 9, "MPI_Waitsome")
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_Send(10, 1, MPI_INTEGER, next, 22, MPI_COMM_WORLD)
    flag = .false.
    do while (.not. flag)
      call MPI_Request_get_status_any(4, requests, index, flag, one)
    end do
    call expect(index == 2 .and. requests(2) /= MPI_REQUEST_NULL, "MPI_Request_get_status_any")
    call MPI_Testsome(4, requests, done, indices, MPI_STATUSES_IGNORE)
    call expect(done == 1 .and. indices(1) == 2, "MPI_Testsome counts from 1")
    call MPI_Waitany(4, requests, index, MPI_STATUS_IGNORE)
    call expect(index == MPI_UNDEFINED, "MPI_Waitany of null requests")
    call MPI_Testall(4, requests, flag, found)
    call expect(flag, "MPI_Testall of null requests")
  end subroutine several

  subroutine persistent
    integer, asynchronous :: from(6), into(4)
    type(MPI_Request) :: requests(2)
    integer :: round
    into = -1
    call MPI_Send_init(from(2:6:2), 3, MPI_INTEGER, next, 30, MPI_COMM_WORLD, requests(1))
    call MPI_Recv_init(into(4:2:-1), 3_MPI_COUNT_KIND, MPI_INTEGER, last, 30, MPI_COMM_WORLD, requests(2))
    do round = 1, 3
      from = [1, 2, 3, 4, 5, 6] + 10 * round
      call MPI_Startall(2, requests)
      call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
      call expect(all(into == [-1, 6, 4, 2] + [0, 10, 10, 10] * round), "a persistent message into a reversed section")
    end do
    call MPI_Request_free(requests(1))
    call MPI_Request_free(requests(2))
    call expect(all(requests == MPI_REQUEST_NULL), "MPI_Request_free")
  end subroutine persistent

  subroutine matched
    integer, asynchronous :: got(3)
    integer :: count
    type(MPI_Message) :: message
    type(MPI_Request) :: request
    type(MPI_Status) :: status
    logical :: flag
    call MPI_Isend([5, 6, 7], 3, MPI_INTEGER, next, 40, MPI_COMM_WORLD, request)
    call MPI_Mprobe(last, 40, MPI_COMM_WORLD, message, status)
    call MPI_Get_count(status, MPI_INTEGER, count)
    call MPI_Mrecv(got, count, MPI_INTEGER, message, status)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call expect(message == MPI_MESSAGE_NULL .and. all(got == [5, 6, 7]), "MPI_Mrecv")
    call MPI_Send([1, 2], 2, MPI_INTEGER, next, 41, MPI_COMM_WORLD)
    flag = .false.
    do while (.not. flag)
      call MPI_Improbe(last, 41, MPI_COMM_WORLD, flag, message, MPI_STATUS_IGNORE)
    end do
    call MPI_Imrecv(got(1:3:2), 2, MPI_INTEGER, message, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call expect(all(got == [1, 6, 2]), "MPI_Imrecv into a section")
    call MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, flag, status)
    call expect(.not. flag, "MPI_Iprobe without a message")
    call MPI_Barrier(MPI_COMM_WORLD)
  end subroutine matched

  subroutine exchanges
    integer, asynchronous :: grid(3, 4), row(4)
    type(MPI_Request) :: request
    grid = rank
    call MPI_Sendrecv_replace(grid(2, :), 4, MPI_INTEGER, next, 50, last, 50, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call expect(all(grid(2, :) == last) .and. all(grid(1:3:2, :) == rank), "MPI_Sendrecv_replace of a row")
    call MPI_Isendrecv(grid(1, :), 4, MPI_INTEGER, last, 51, row, 4, MPI_INTEGER, next, 51, MPI_COMM_WORLD, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call expect(all(row == next), "MPI_Isendrecv of a row")
    call MPI_Isendrecv_replace(grid(1, :), 4, MPI_INTEGER, next, 52, last, 52, MPI_COMM_WORLD, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call expect(all(grid(1, :) == last) .and. all(grid(3, :) == rank), "MPI_Isendrecv_replace of a row")
  end subroutine exchanges

  subroutine buffers
    character, target :: room(10000)
    type(c_ptr) :: place
    integer :: size, got
    integer(MPI_COUNT_KIND) :: large
    type(MPI_Request) :: request
    call MPI_Buffer_attach(room, 10000)
    call MPI_Bsend(rank, 1, MPI_INTEGER, next, 60, MPI_COMM_WORLD)
    call MPI_Ibsend(rank, 1, MPI_INTEGER, next, 61, MPI_COMM_WORLD, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call MPI_Recv(got, 1, MPI_INTEGER, last, 60, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call MPI_Recv(got, 1, MPI_INTEGER, last, 61, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call MPI_Buffer_flush()
    call MPI_Buffer_detach(place, size)
    ! gfortran believes that the address of `room` cannot come back from a procedure.
    call expect(transfer(place, 0_c_intptr_t) == loc(room) .and. size == 10000 .and. got == last, "MPI_Buffer_detach")
    call MPI_Comm_attach_buffer(MPI_COMM_WORLD, MPI_BUFFER_AUTOMATIC, 0)
    call MPI_Bsend(rank, 1, MPI_INTEGER, next, 62, MPI_COMM_WORLD)
    call MPI_Recv(got, 1, MPI_INTEGER, last, 62, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call MPI_Comm_detach_buffer(MPI_COMM_WORLD, place, large)
    call expect(got == last, "MPI_BUFFER_AUTOMATIC")
  end subroutine buffers

  subroutine statuses
    type(MPI_Status) :: status, copy
    integer :: plain(MPI_STATUS_SIZE), count
    integer(MPI_COUNT_KIND) :: large
    logical :: flag
    call MPI_Sendrecv([1.0, 2.0], 2, MPI_REAL, next, 80, MPI_BOTTOM, 0, MPI_REAL, MPI_PROC_NULL, 0, MPI_COMM_WORLD, status)
    call expect(status%MPI_SOURCE == MPI_PROC_NULL, "a status of no process")
    block
      real :: got(5)
      call MPI_Recv(got, 5, MPI_REAL, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, status)
    end block
    call MPI_Status_f082f(status, plain)
    call expect(plain(MPI_SOURCE) == last .and. plain(MPI_TAG) == 80, "MPI_Status_f082f")
    call MPI_Status_f2f08(plain, copy)
    call MPI_Get_count(copy, MPI_REAL, large)
    call expect(large == 2 .and. copy%MPI_TAG == 80, "MPI_Status_f2f08")
    call MPI_Get_elements(copy, MPI_BYTE, count)
    call expect(count == 8, "MPI_Get_elements")
    call MPI_Status_set_elements(copy, MPI_INTEGER, 2_MPI_COUNT_KIND**33)
    call MPI_Get_elements(copy, MPI_INTEGER, large)
    call expect(large == 2_MPI_COUNT_KIND**33, "MPI_Status_set_elements with a large count")
    call MPI_Status_set_cancelled(copy, .true.)
    call MPI_Test_cancelled(copy, flag)
    call expect(flag, "MPI_Test_cancelled")
    call MPI_Status_set_tag(copy, 81)
    call MPI_Status_get_tag(copy, count)
    call expect(count == 81, "MPI_Status_get_tag")
  end subroutine statuses

  ! A datatype of several elements, and one with gaps, over a section.
  subroutine derived
    type(MPI_Datatype) :: pair, spread
    integer, asynchronous :: from(12), into(4)
    integer(1) :: bytes(12)
    integer :: i
    call MPI_Type_contiguous(2, MPI_INTEGER, pair)
    call MPI_Type_commit(pair)
    call MPI_Type_create_indexed_block(2, 1, [0, 2], MPI_INTEGER, spread)
    call MPI_Type_commit(spread)
    from = [(i, i = 1, 12)]
    call MPI_Send(from(1:12:3), 2, pair, rank, 90, MPI_COMM_WORLD)
    call MPI_Recv(into, 4, MPI_INTEGER, rank, 90, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call expect(all(into == [1, 4, 7, 10]), "pairs in a section")
    call MPI_Send(from(2:12:2), 2, spread, rank, 91, MPI_COMM_WORLD)
    call MPI_Recv(into, 4, MPI_INTEGER, rank, 91, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call expect(all(into == [2, 6, 8, 12]), "a datatype with gaps in a section")
    call MPI_Send(from(2:12:5), 12, MPI_BYTE, rank, 92, MPI_COMM_WORLD)
    call MPI_Recv(bytes, 12, MPI_BYTE, rank, 92, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call expect(all(transfer(bytes, from(1:3)) == [2, 7, 12]), "bytes of a section")
    call MPI_Type_free(pair)
    call MPI_Type_free(spread)
    call expect(pair == MPI_DATATYPE_NULL, "MPI_Type_free")
  end subroutine derived

  ! Errors: an absent ierror, sections that are too small, a request that is completed with an error.
  subroutine failures
    integer :: code, class, got(2)
    type(MPI_Request) :: request
    type(MPI_Status) :: status
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
    call MPI_Send(got, 1, MPI_INTEGER, ranks, 0, MPI_COMM_WORLD)
    call MPI_Send(got, 1, MPI_INTEGER, ranks, 0, MPI_COMM_WORLD, code)
    call MPI_Error_class(code, class)
    call expect(class == MPI_ERR_RANK, "a wrong rank")
    block
      integer :: from(8)
      from = 0
      call MPI_Send(from(1:8:2), 5, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD, code)
      call MPI_Error_class(code, class)
      call expect(class == MPI_ERR_COUNT, "a count beyond a section")
    end block
    call MPI_Irecv(got, 1, MPI_INTEGER, last, 95, MPI_COMM_WORLD, request)
    call MPI_Send([1, 2], 2, MPI_INTEGER, next, 95, MPI_COMM_WORLD)
    call MPI_Wait(request, status, code)
    call MPI_Error_class(code, class)
    call expect(class == MPI_ERR_TRUNCATE .and. request == MPI_REQUEST_NULL, "the request of a truncated message is gone")
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL)
  end subroutine failures
end program f08_point
