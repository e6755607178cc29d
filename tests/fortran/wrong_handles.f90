! SPDX-FileCopyrightText: 2026 the Weft authors
! SPDX-License-Identifier: BSD-3-Clause
! Handles that are none: numbers from a generator, those near live objects, and freed ones. Each call gives an error of
! its class, and the program goes on.
program wrong_handles
  use mpi_f08
  implicit none
  integer :: wrong = 0, rank, i, known(4)
  integer(8) :: seed = 20261126
  type(MPI_Comm) :: comm
  type(MPI_Datatype) :: type
  type(MPI_Info) :: info
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
  call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
  call MPI_Comm_dup(MPI_COMM_SELF, comm)
  call MPI_Type_contiguous(3, MPI_INTEGER, type)
  call MPI_Info_create(info)
  known = [comm%MPI_VAL, type%MPI_VAL, info%MPI_VAL, MPI_COMM_WORLD%MPI_VAL]
  do i = 1, 4
    if (i < 4) call none_is(known(i) + 1)
    if (i < 4) call none_is(known(i) - 1)
  end do
  call MPI_Comm_free(comm)
  call MPI_Type_free(type)
  call MPI_Info_free(info)
  do i = 1, 3
    call none_is(known(i))
  end do
  call none_is(-1)
  call none_is(-huge(i) - 1)
  call none_is(huge(i))
  do i = 1, 500
    seed = modulo(seed * 6364136223_8 + 1442695041_8, 4294967296_8)
    call none_is(int(seed - 2147483648_8))
  end do
  if (wrong == 0 .and. rank == 0) print *, "all of them are errors"
  call MPI_Finalize()
  if (wrong /= 0) error stop 1

contains

  subroutine none_is(value)
    integer, intent(in) :: value
    integer, asynchronous :: number(2)
    integer :: error
    type(MPI_Request) :: request
    number = 0
    call MPI_Comm_size(MPI_Comm(value), number(1), error)
    call check(error, MPI_ERR_COMM, "MPI_Comm_size", value)
    call MPI_Barrier(MPI_Comm(value), error)
    call check(error, MPI_ERR_COMM, "MPI_Barrier", value)
    request = MPI_REQUEST_NULL
    call MPI_Isend(number, 1, MPI_INTEGER, 0, 1, MPI_Comm(value), request, error)
    call check(error, MPI_ERR_COMM, "MPI_Isend, communicator", value)
    call MPI_Isend(number, 1, MPI_Datatype(value), 0, 1, MPI_COMM_SELF, request, error)
    call check(error, MPI_ERR_TYPE, "MPI_Isend, datatype", value)
    call MPI_Irecv(number, 1, MPI_Datatype(value), 0, 1, MPI_COMM_SELF, request, error)
    call check(error, MPI_ERR_TYPE, "MPI_Irecv", value)
    call MPI_Type_size(MPI_Datatype(value), number(1), error)
    call check(error, MPI_ERR_TYPE, "MPI_Type_size", value)
    call MPI_Group_size(MPI_Group(value), number(1), error)
    call check(error, MPI_ERR_GROUP, "MPI_Group_size", value)
    call MPI_Info_get_nkeys(MPI_Info(value), number(1), error)
    call check(error, MPI_ERR_INFO, "MPI_Info_get_nkeys", value)
    call MPI_Win_fence(0, MPI_Win(value), error)
    call check(error, MPI_ERR_WIN, "MPI_Win_fence", value)
    call MPI_Put(number, 1, MPI_INTEGER, 0, 0_MPI_ADDRESS_KIND, 1, MPI_INTEGER, MPI_Win(value), error)
    call check(error, MPI_ERR_WIN, "MPI_Put", value)
    call MPI_Allreduce(MPI_IN_PLACE, number, 1, MPI_INTEGER, MPI_Op(value), MPI_COMM_SELF, error)
    call check(error, MPI_ERR_OP, "MPI_Allreduce", value)
    request = MPI_Request(value)
    call MPI_Wait(request, MPI_STATUS_IGNORE, error)
    call check(error, MPI_ERR_REQUEST, "MPI_Wait", value)
    if (request /= MPI_Request(value)) call check(0, 1, "MPI_Wait, the handle", value)
    call MPI_File_sync(MPI_File(value), error)
    call check(error, MPI_ERR_FILE, "MPI_File_sync", value)
  end subroutine none_is

  subroutine check(code, wanted, what, value)
    integer, intent(in) :: code, wanted, value
    character(len=*), intent(in) :: what
    integer :: class
    call MPI_Error_class(code, class)
    if (class == wanted) return
    print *, what, value, "gives the class", class, "instead of", wanted
    wrong = wrong + 1
  end subroutine check
end program wrong_handles
