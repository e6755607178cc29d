! SPDX-FileCopyrightText: 2026 the Weft authors
! SPDX-License-Identifier: BSD-3-Clause
! Procedures that Weft calls: operations, error handlers, attributes, generalized requests.
module procedures
  use mpi
  implicit none
  integer :: failed_comm = -1, failed_code = 0, copied = 0, deleted = 0, freed = 0, cancelled = 0

contains

  ! Not commutative: the product of the matrices ((a, b), (0, 1)).
  subroutine compose(in, inout, length, datatype)
    integer :: length, datatype, i
    integer :: in(2, length), inout(2, length)
    do i = 1, length
      inout(2, i) = in(1, i) * inout(2, i) + in(2, i)
      inout(1, i) = in(1, i) * inout(1, i)
    end do
    if (datatype == MPI_DATATYPE_NULL) inout = -1
  end subroutine compose

  subroutine failed(comm, code)
    integer :: comm, code
    failed_comm = comm
    failed_code = code
  end subroutine failed

  subroutine copy(comm, keyval, extra, from, made, flag, ierror)
    integer :: comm, keyval, ierror
    integer(MPI_ADDRESS_KIND) :: extra, from, made
    logical :: flag
    made = from + extra
    flag = comm == MPI_COMM_WORLD .and. keyval /= MPI_KEYVAL_INVALID
    copied = copied + 1
    ierror = MPI_SUCCESS
  end subroutine copy

  subroutine remove(comm, keyval, value, extra, ierror)
    integer :: comm, keyval, ierror
    integer(MPI_ADDRESS_KIND) :: value, extra
    if (comm /= MPI_COMM_NULL .and. keyval /= MPI_KEYVAL_INVALID) deleted = deleted + int(value - extra)
    ierror = MPI_SUCCESS
  end subroutine remove

  subroutine query(extra, status, ierror)
    integer(MPI_ADDRESS_KIND) :: extra
    integer :: status(MPI_STATUS_SIZE), ierror
    call MPI_Status_set_elements(status, MPI_INTEGER, int(extra), ierror)
    call MPI_Status_set_cancelled(status, .false., ierror)
    status(MPI_TAG) = 5
    ierror = MPI_SUCCESS
  end subroutine query

  subroutine release(extra, ierror)
    integer(MPI_ADDRESS_KIND) :: extra
    integer :: ierror
    freed = freed + int(extra)
    ierror = MPI_SUCCESS
  end subroutine release

  subroutine cancel(extra, complete, ierror)
    integer(MPI_ADDRESS_KIND) :: extra
    integer :: ierror
    logical :: complete
    if (.not. complete) cancelled = cancelled + int(extra)
    ierror = MPI_SUCCESS
  end subroutine cancel
end module procedures

program callbacks
  use mpi
  use procedures
  implicit none
  integer :: ierror, rank, ranks, wrong = 0
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  call operations
  call error_handlers
  call attributes
  call requests
  if (wrong /= 0) call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
  call MPI_Finalize(ierror)

contains

  include "expect.inc"

  subroutine operations
    integer :: op, pair, mine(2, 3), result(2, 3), right(2), i
    logical :: commutes
    call MPI_Op_create(compose, .false., op, ierror)
    call MPI_Op_commutative(op, commutes, ierror)
    call expect(.not. commutes, "MPI_Op_commutative")
    call MPI_Type_contiguous(2, MPI_INTEGER, pair, ierror)
    call MPI_Type_commit(pair, ierror)
    mine(1, :) = 2
    mine(2, :) = rank + 1
    call MPI_Allreduce(mine, result, 3, pair, op, MPI_COMM_WORLD, ierror)
    right = [1, 0]
    do i = ranks, 1, -1
      right = [2 * right(1), 2 * right(2) + i]
    end do
    call expect(all(result(1, :) == right(1)) .and. all(result(2, :) == right(2)), "an operation that does not commute")
    call MPI_Op_free(op, ierror)
    call expect(op == MPI_OP_NULL, "MPI_Op_free")
    call MPI_Type_free(pair, ierror)
  end subroutine operations

  subroutine error_handlers
    integer :: comm, handler, class
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierror)
    call MPI_Comm_create_errhandler(failed, handler, ierror)
    call MPI_Comm_set_errhandler(comm, handler, ierror)
    call MPI_Errhandler_free(handler, ierror)
    call MPI_Send(rank, 1, MPI_INTEGER, ranks, 0, comm, ierror)
    call MPI_Error_class(failed_code, class, ierror)
    call expect(failed_comm == comm .and. class == MPI_ERR_RANK, "an error handler")
    call MPI_Comm_free(comm, ierror)
  end subroutine error_handlers

  subroutine attributes
    integer :: comm, key, same, old, number
    integer(MPI_ADDRESS_KIND) :: value
    integer(MPI_ADDRESS_KIND), parameter :: large = 2_MPI_ADDRESS_KIND**40
    logical :: flag
    call MPI_Comm_create_keyval(copy, remove, key, 3_MPI_ADDRESS_KIND, ierror)
    call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, same, 0_MPI_ADDRESS_KIND, ierror)
    call MPI_Keyval_create(MPI_DUP_FN, MPI_NULL_DELETE_FN, old, 0, ierror)
    call MPI_Comm_set_attr(MPI_COMM_WORLD, key, 10_MPI_ADDRESS_KIND, ierror)
    call MPI_Comm_set_attr(MPI_COMM_WORLD, same, -large, ierror)
    call MPI_Attr_put(MPI_COMM_WORLD, old, -7, ierror)
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierror)
    call MPI_Comm_get_attr(comm, key, value, flag, ierror)
    call expect(flag .and. value == 13 .and. copied == 1, "a copied attribute")
    call MPI_Comm_get_attr(comm, same, value, flag, ierror)
    call expect(flag .and. value == -large, "MPI_COMM_DUP_FN")
    call MPI_Attr_get(comm, old, number, flag, ierror)
    call expect(flag .and. number == -7, "MPI_DUP_FN")
    call MPI_Comm_free(comm, ierror)
    call expect(deleted == 10, "a deleted attribute of a freed communicator")
    call MPI_Comm_delete_attr(MPI_COMM_WORLD, key, ierror)
    call expect(deleted == 17, "MPI_Comm_delete_attr")
    call MPI_Comm_get_attr(MPI_COMM_WORLD, key, value, flag, ierror)
    call expect(.not. flag, "an attribute that is gone")
    call MPI_Comm_free_keyval(key, ierror)
    call expect(key == MPI_KEYVAL_INVALID, "MPI_Comm_free_keyval")
  end subroutine attributes

  subroutine requests
    integer :: request, status(MPI_STATUS_SIZE), count
    call MPI_Grequest_start(query, release, cancel, 4_MPI_ADDRESS_KIND, request, ierror)
    call MPI_Cancel(request, ierror)
    call MPI_Grequest_complete(request, ierror)
    call MPI_Wait(request, status, ierror)
    call MPI_Get_elements(status, MPI_INTEGER, count, ierror)
    call expect(count == 4 .and. status(MPI_TAG) == 5 .and. freed == 4 .and. cancelled == 4, "a generalized request")
    call expect(request == MPI_REQUEST_NULL, "a generalized request that has ended")
  end subroutine requests
end program callbacks
