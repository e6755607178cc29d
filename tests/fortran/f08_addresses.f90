! SPDX-FileCopyrightText: 2026 the Weft authors
! SPDX-License-Identifier: BSD-3-Clause
! mpi_f08 of an ABI that passes the addresses of buffers (Open MPI's): calls of each kind of argument, most of them
! without ierror, and constants that are named by their addresses.
program f08_addresses
  use mpi_f08
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
  implicit none
  integer :: rank, ranks, wrong = 0, next, last, i, count, indices(2), bytes, code, length, numbers(3), sums(3), other(3)
  integer(MPI_ADDRESS_KIND) :: size
  integer(MPI_OFFSET_KIND) :: offset
  integer, allocatable :: all_ranks(:)
  integer, pointer :: memory(:)
  integer, asynchronous :: attached(1000)
  type(c_ptr) :: base
  type(MPI_Comm) :: comm, half
  type(MPI_Group) :: group
  type(MPI_Datatype) :: pair, types(2)
  type(MPI_Request) :: requests(2)
  type(MPI_Status) :: status, statuses(2)
  type(MPI_Op) :: product
  type(MPI_Win) :: window
  type(MPI_File) :: file
  type(MPI_Info) :: info
  character(MPI_MAX_OBJECT_NAME) :: name
  character(MPI_MAX_ERROR_STRING) :: text
  logical :: flag
  complex(kind(1d0)) :: z(2)

  call MPI_Init()
  call MPI_Comm_dup(MPI_COMM_WORLD, comm)
  call MPI_Comm_rank(comm, rank)
  call MPI_Comm_size(comm, ranks)
  next = mod(rank + 1, ranks)
  last = mod(rank + ranks - 1, ranks)
  call expect(comm /= MPI_COMM_WORLD .and. .not. (comm == MPI_COMM_NULL), "comparison of handles")

  ! Messages, with arrays of handles and of statuses.
  numbers = rank
  call MPI_Irecv(other, 3, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, requests(1))
  call MPI_Isend(numbers, 3, MPI_INTEGER, next, 4, comm, requests(2))
  call MPI_Waitall(2, requests, statuses)
  call MPI_Get_count(statuses(1), MPI_INTEGER, count)
  call expect(all(other == last) .and. count == 3, "a message")
  call expect(statuses(1)%MPI_SOURCE == last .and. statuses(1)%MPI_TAG == 4, "its status")
  call expect(all(requests%MPI_VAL == MPI_REQUEST_NULL%MPI_VAL), "requests that are complete")
  call MPI_Sendrecv(numbers, 1, MPI_INTEGER, next, 5, other, 1, MPI_INTEGER, last, 5, comm, MPI_STATUS_IGNORE)
  call expect(other(1) == last, "an exchange")
  call MPI_Irecv(other, 1, MPI_INTEGER, last, 6, comm, requests(1))
  requests(2) = MPI_REQUEST_NULL
  call MPI_Send(numbers, 1, MPI_INTEGER, next, 6, comm)
  call MPI_Waitsome(2, requests, count, indices, MPI_STATUSES_IGNORE)
  call expect(count == 1 .and. indices(1) == 1, "an index")
  call MPI_Recv(other, 1, MPI_INTEGER, MPI_PROC_NULL, 1, comm, status, code)
  call expect(code == MPI_SUCCESS .and. status%MPI_SOURCE == MPI_PROC_NULL, "a message from nobody")
  call MPI_Buffer_attach(attached, 4000)
  call MPI_Bsend(numbers, 1, MPI_INTEGER, next, 8, comm)
  call MPI_Recv(other, 1, MPI_INTEGER, last, 8, comm, MPI_STATUS_IGNORE)
  call MPI_Buffer_detach(base, bytes)
  call MPI_Get_address(attached, size)
  call expect(bytes == 4000 .and. transfer(base, size) == size, "a buffer that was detached")

  ! Collective operations, an operation of the program, types and names.
  allocate(all_ranks(ranks))
  all_ranks(rank + 1) = rank
  call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all_ranks, 1, MPI_INTEGER, comm)
  call expect(all(all_ranks == [(i, i = 0, ranks - 1)]), "MPI_IN_PLACE")
  call MPI_Op_create(multiply, .true., product)
  numbers = rank + 1
  call MPI_Allreduce(numbers, sums, 3, MPI_INTEGER, product, comm)
  call expect(all(sums == factorial(ranks)), "an operation of the program")
  call MPI_Op_free(product)
  call expect(product == MPI_OP_NULL, "an operation that was freed")
  types = [MPI_INTEGER, MPI_DOUBLE_COMPLEX]
  call MPI_Type_create_struct(2, [1, 2], [0_MPI_ADDRESS_KIND, 16_MPI_ADDRESS_KIND], types, pair)
  call MPI_Type_commit(pair)
  call MPI_Type_size(pair, bytes)
  call expect(bytes == 36, "the size of a type")
  call MPI_Type_set_name(pair, "pair  ")
  call MPI_Type_get_name(pair, name, length)
  call expect(length == 4 .and. name == "pair", "the name of a type")
  call MPI_Type_free(pair)
  call MPI_Sizeof(z, bytes)
  call expect(bytes == 16, "the size of a variable")
  call MPI_Comm_split(comm, mod(rank, 2), -rank, half)
  call MPI_Comm_group(half, group)
  call MPI_Group_size(group, count)
  call expect(count == (ranks + 1 - mod(rank, 2)) / 2, "a part of the ranks")
  call MPI_Group_free(group)
  call MPI_Comm_free(half)
  call MPI_Comm_get_attr(comm, MPI_TAG_UB, size, flag)
  call expect(flag .and. size >= 32767, "a predefined attribute")

  ! A window and a file.
  call MPI_Win_allocate(int(8, MPI_ADDRESS_KIND), 4, MPI_INFO_NULL, comm, base, window)
  call c_f_pointer(base, memory, [2])
  memory = -1
  call MPI_Win_fence(0, window)
  call MPI_Put(rank, 1, MPI_INTEGER, next, 1_MPI_ADDRESS_KIND, 1, MPI_INTEGER, window)
  call MPI_Win_fence(0, window)
  call expect(memory(2) == last .and. memory(1) == -1, "a window")
  call MPI_Win_free(window)
  call MPI_Info_create(info)
  call MPI_Info_set(info, "access_style", "write_once")
  call MPI_File_open(comm, "fortran_f08_addresses.data", MPI_MODE_RDWR + MPI_MODE_CREATE + MPI_MODE_DELETE_ON_CLOSE, info, &
                     file)
  call MPI_Info_free(info)
  offset = 4 * rank
  call MPI_File_write_at_all(file, offset, rank, 1, MPI_INTEGER, MPI_STATUS_IGNORE)
  call MPI_File_sync(file)
  call MPI_Barrier(comm)
  call MPI_File_read_at(file, int(4 * next, MPI_OFFSET_KIND), other, 1, MPI_INTEGER, status)
  call expect(other(1) == next, "a file")
  call MPI_File_close(file)

  ! Errors come back as classes with a text.
  call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN)
  call MPI_Send(numbers, 1, MPI_INTEGER, ranks, 1, comm, code)
  call expect(code == MPI_ERR_RANK, "an error")
  call MPI_Error_string(code, text, length)
  call expect(length > 0 .and. length <= MPI_MAX_ERROR_STRING, "its text")
  call MPI_Comm_free(comm)
  call expect(comm == MPI_COMM_NULL, "a communicator that was freed")
  if (wrong /= 0) call MPI_Abort(MPI_COMM_WORLD, 1)
  call MPI_Finalize()

contains
  subroutine multiply(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: a(:), b(:)
    call c_f_pointer(invec, a, [len])
    call c_f_pointer(inoutvec, b, [len])
    call expect(datatype == MPI_INTEGER, "the type that an operation gets")
    b = a * b
  end subroutine multiply

  integer function factorial(n)
    integer, intent(in) :: n
    integer :: k
    factorial = 1
    do k = 2, n
      factorial = factorial * k
    end do
  end function factorial

  include "expect.inc"
end program f08_addresses
