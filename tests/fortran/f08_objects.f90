! SPDX-FileCopyrightText: 2026 the Weft authors
! SPDX-License-Identifier: BSD-3-Clause
! Communicators, groups, topologies, sessions, info, error handlers, operations, attributes and generalized requests of
! mpi_f08, with the procedures that Weft calls.
module object_procedures
  use mpi_f08
  use, intrinsic :: iso_c_binding
  implicit none
  integer :: failed_code = 0, copied = 0, deleted = 0, freed = 0, cancelled = 0
  type(MPI_Comm) :: failed_comm = MPI_COMM_NULL
  type(MPI_Session) :: failed_session = MPI_SESSION_NULL

contains

  ! Not commutative: the product of the matrices ((a, b), (0, 1)).
  subroutine compose(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer :: len, i
    type(MPI_Datatype) :: datatype
    integer, pointer :: in(:, :), inout(:, :)
    call c_f_pointer(invec, in, [2, len])
    call c_f_pointer(inoutvec, inout, [2, len])
    do i = 1, len
      inout(2, i) = in(1, i) * inout(2, i) + in(2, i)
      inout(1, i) = in(1, i) * inout(1, i)
    end do
    if (datatype == MPI_DATATYPE_NULL) inout = -1
  end subroutine compose

  subroutine failed(object, error_code)
    type(MPI_Comm) :: object
    integer :: error_code
    failed_comm = object
    failed_code = error_code
  end subroutine failed

  subroutine session_failed(object, error_code)
    type(MPI_Session) :: object
    integer :: error_code
    failed_session = object
    failed_code = error_code
  end subroutine session_failed

  subroutine copy(object, keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
    type(MPI_Comm) :: object
    integer :: keyval, ierror
    integer(MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
    logical :: flag
    attribute_val_out = attribute_val_in + extra_state
    flag = object == MPI_COMM_WORLD .and. keyval /= MPI_KEYVAL_INVALID
    copied = copied + 1
    ierror = MPI_SUCCESS
  end subroutine copy

  subroutine remove(object, keyval, attribute_val, extra_state, ierror)
    type(MPI_Comm) :: object
    integer :: keyval, ierror
    integer(MPI_ADDRESS_KIND) :: attribute_val, extra_state
    if (object /= MPI_COMM_NULL .and. keyval /= MPI_KEYVAL_INVALID) deleted = deleted + int(attribute_val - extra_state)
    ierror = MPI_SUCCESS
  end subroutine remove

  subroutine query(extra_state, status, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    type(MPI_Status) :: status
    integer :: ierror
    call MPI_Status_set_elements(status, MPI_INTEGER, int(extra_state))
    call MPI_Status_set_cancelled(status, .false.)
    status%MPI_TAG = 5
    ierror = MPI_SUCCESS
  end subroutine query

  subroutine release(extra_state, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    integer :: ierror
    freed = freed + int(extra_state)
    ierror = MPI_SUCCESS
  end subroutine release

  subroutine cancel(extra_state, complete, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    integer :: ierror
    logical :: complete
    if (.not. complete) cancelled = cancelled + int(extra_state)
    ierror = MPI_SUCCESS
  end subroutine cancel
end module object_procedures

program f08_objects
  use mpi_f08
  use object_procedures
  implicit none
  integer :: rank, ranks, wrong = 0, provided
  logical :: flag
  call MPI_Initialized(flag)
  if (flag) error stop "MPI_Initialized before the start"
  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call expect(provided >= MPI_THREAD_FUNNELED, "MPI_Init_thread")
  call groups
  call communicators
  call topologies
  call graphs
  call attributes
  call operations
  call error_handlers
  call infos
  call sessions
  call requests
  call environment
  if (wrong /= 0) call MPI_Abort(MPI_COMM_WORLD, 1)
  call MPI_Finalize()

contains

  include "expect.inc"

  subroutine groups
    type(MPI_Group) :: world, part, other
    integer :: size, place, result, ranks2(1)
    call MPI_Comm_group(MPI_COMM_WORLD, world)
    call MPI_Group_incl(world, 1, [ranks - 1], part)
    call MPI_Group_size(part, size)
    call MPI_Group_translate_ranks(part, 1, [0], world, ranks2)
    call expect(size == 1 .and. ranks2(1) == ranks - 1, "MPI_Group_translate_ranks")
    call MPI_Group_range_incl(world, 1, reshape([0, ranks - 1, 1], [3, 1]), other)
    call MPI_Group_compare(world, other, result)
    call expect(result == MPI_IDENT, "MPI_Group_range_incl")
    call MPI_Group_free(other)
    call MPI_Group_difference(world, part, other)
    call MPI_Group_rank(other, place)
    call expect((place == MPI_UNDEFINED) .eqv. (rank == ranks - 1), "MPI_Group_difference")
    if (other /= MPI_GROUP_EMPTY) call MPI_Group_free(other)
    call MPI_Group_free(part)
    call MPI_Group_free(world)
    call expect(world == MPI_GROUP_NULL, "MPI_Group_free")
  end subroutine groups

  subroutine communicators
    type(MPI_Comm) :: half, twin, bridge, whole
    type(MPI_Group) :: group
    type(MPI_Request) :: request
    integer :: length, size, result
    logical :: inter
    character(len=MPI_MAX_OBJECT_NAME) :: name
    call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, half)
    call MPI_Comm_set_name(half, "a half  ")
    call MPI_Comm_get_name(half, name, length)
    call expect(name == "a half" .and. length == 6, "MPI_Comm_get_name")
    call MPI_Comm_idup(half, twin, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call MPI_Comm_compare(half, twin, result)
    call expect(result == MPI_CONGRUENT .and. half /= twin, "MPI_Comm_idup")
    call MPI_Comm_free(twin)
    if (ranks > 1) then
      call MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - mod(rank, 2), 9, bridge)
      call MPI_Comm_test_inter(bridge, inter)
      call MPI_Comm_remote_size(bridge, size)
      call expect(inter .and. size == (ranks + mod(rank, 2)) / 2, "MPI_Intercomm_create")
      call MPI_Intercomm_merge(bridge, mod(rank, 2) == 1, whole)
      call MPI_Comm_size(whole, size)
      call expect(size == ranks, "MPI_Intercomm_merge")
      call MPI_Comm_free(whole)
      call MPI_Comm_free(bridge)
    end if
    call MPI_Comm_group(half, group)
    call MPI_Comm_create_group(MPI_COMM_WORLD, group, 4, twin)
    call MPI_Group_free(group)
    call MPI_Comm_size(twin, size)
    call expect(size == (ranks + 1 - mod(rank, 2)) / 2, "MPI_Comm_create_group")
    call MPI_Comm_disconnect(twin)
    call MPI_Comm_free(half)
    call MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, half)
    call MPI_Comm_size(half, size)
    call expect(size >= 1 .and. size <= ranks, "MPI_Comm_split_type")
    call MPI_Comm_free(half)
    call expect(half == MPI_COMM_NULL .and. twin == MPI_COMM_NULL, "freed communicators")
  end subroutine communicators

  subroutine topologies
    type(MPI_Comm) :: cart, line
    integer :: dims(2), coords(2), kind, place, count
    logical :: periods(2)
    dims = 0
    call MPI_Dims_create(ranks, 2, dims)
    call expect(product(dims) == ranks, "MPI_Dims_create")
    call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, [.true., .false.], .false., cart)
    call MPI_Topo_test(cart, kind)
    call MPI_Cartdim_get(cart, count)
    call MPI_Cart_get(cart, 2, dims, periods, coords)
    call expect(kind == MPI_CART .and. count == 2 .and. periods(1) .and. .not. periods(2), "MPI_Cart_get")
    call MPI_Cart_rank(cart, coords, place)
    call expect(place == rank, "MPI_Cart_rank")
    call MPI_Cart_sub(cart, [.true., .false.], line)
    call MPI_Comm_size(line, count)
    call expect(count == dims(1), "MPI_Cart_sub")
    call MPI_Comm_free(line)
    call MPI_Comm_free(cart)
  end subroutine topologies

  subroutine graphs
    type(MPI_Comm) :: graph
    integer :: i, count, neighbor(1), in(1), out(1), weights(1), inside, outside
    logical :: weighted
    call MPI_Graph_create(MPI_COMM_WORLD, ranks, [(i, i = 1, ranks)], [(mod(i, ranks), i = 1, ranks)], .false., graph)
    call MPI_Graph_neighbors_count(graph, rank, count)
    call MPI_Graph_neighbors(graph, rank, 1, neighbor)
    call expect(count == 1 .and. neighbor(1) == mod(rank + 1, ranks), "MPI_Graph_neighbors")
    call MPI_Comm_free(graph)
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [mod(rank + ranks - 1, ranks)], [rank], 1, [mod(rank + 1, ranks)], &
                                        [mod(rank + 1, ranks)], MPI_INFO_NULL, .false., graph)
    call MPI_Dist_graph_neighbors_count(graph, inside, outside, weighted)
    call MPI_Dist_graph_neighbors(graph, 1, in, weights, 1, out, MPI_UNWEIGHTED)
    call expect(weighted .and. inside == 1 .and. outside == 1 .and. weights(1) == rank, "weights of edges")
    call MPI_Comm_free(graph)
    call MPI_Dist_graph_create(MPI_COMM_WORLD, 0, [integer ::], [integer ::], [integer ::], MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, &
                               .false., graph)
    call MPI_Dist_graph_neighbors_count(graph, inside, outside, weighted)
    call expect(weighted .and. inside == 0 .and. outside == 0, "MPI_WEIGHTS_EMPTY")
    call MPI_Comm_free(graph)
  end subroutine graphs

  subroutine attributes
    type(MPI_Comm) :: comm
    integer :: key, same
    integer(MPI_ADDRESS_KIND) :: value
    integer(MPI_ADDRESS_KIND), parameter :: large = 2_MPI_ADDRESS_KIND**40
    logical :: flag
    call MPI_Comm_create_keyval(copy, remove, key, 3_MPI_ADDRESS_KIND)
    call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, same, 0_MPI_ADDRESS_KIND)
    call MPI_Comm_set_attr(MPI_COMM_WORLD, key, 10_MPI_ADDRESS_KIND)
    call MPI_Comm_set_attr(MPI_COMM_WORLD, same, -large)
    call MPI_Comm_dup(MPI_COMM_WORLD, comm)
    call MPI_Comm_get_attr(comm, key, value, flag)
    call expect(flag .and. value == 13 .and. copied == 1, "a copied attribute")
    call MPI_Comm_get_attr(comm, same, value, flag)
    call expect(flag .and. value == -large, "MPI_COMM_DUP_FN")
    call MPI_Comm_free(comm)
    call expect(deleted == 10, "a deleted attribute of a freed communicator")
    call MPI_Comm_delete_attr(MPI_COMM_WORLD, key)
    call expect(deleted == 17, "MPI_Comm_delete_attr")
    call MPI_Comm_free_keyval(key)
    call MPI_Comm_free_keyval(same)
    call expect(key == MPI_KEYVAL_INVALID, "MPI_Comm_free_keyval")
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag)
    call expect(flag .and. value >= 32767, "MPI_TAG_UB")
  end subroutine attributes

  subroutine operations
    type(MPI_Op) :: op
    type(MPI_Datatype) :: pair
    integer :: mine(2, 3), result(2, 3), right(2), i
    logical :: commutes
    call MPI_Op_create(compose, .false., op)
    call MPI_Op_commutative(op, commutes)
    call expect(.not. commutes, "MPI_Op_commutative")
    call MPI_Type_contiguous(2, MPI_INTEGER, pair)
    call MPI_Type_commit(pair)
    mine(1, :) = 2
    mine(2, :) = rank + 1
    call MPI_Allreduce(mine, result, 3, pair, op, MPI_COMM_WORLD)
    right = [1, 0]
    do i = ranks, 1, -1
      right = [2 * right(1), 2 * right(2) + i]
    end do
    call expect(all(result(1, :) == right(1)) .and. all(result(2, :) == right(2)), "an operation that does not commute")
    call MPI_Type_free(pair)
    call MPI_Op_free(op)
    call expect(op == MPI_OP_NULL, "MPI_Op_free")
  end subroutine operations

  subroutine error_handlers
    type(MPI_Comm) :: comm
    type(MPI_Errhandler) :: handler, got
    integer :: class, code, length
    character(len=MPI_MAX_ERROR_STRING) :: text
    call MPI_Comm_dup(MPI_COMM_WORLD, comm)
    call MPI_Comm_create_errhandler(failed, handler)
    call MPI_Comm_set_errhandler(comm, handler)
    call MPI_Comm_get_errhandler(comm, got)
    call expect(got /= MPI_ERRHANDLER_NULL, "MPI_Comm_get_errhandler")
    call MPI_Errhandler_free(got)
    call MPI_Errhandler_free(handler)
    call MPI_Send(rank, 1, MPI_INTEGER, ranks, 0, comm)
    call MPI_Error_class(failed_code, class)
    call expect(failed_comm == comm .and. class == MPI_ERR_RANK, "an error handler")
    call MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER)
    call expect(failed_code == MPI_ERR_OTHER, "MPI_Comm_call_errhandler")
    call MPI_Comm_free(comm)
    call MPI_Add_error_class(class)
    call MPI_Add_error_code(class, code)
    call MPI_Add_error_string(code, "of our own   ")
    call MPI_Error_string(code, text, length)
    call expect(text == "of our own" .and. length == 10, "MPI_Error_string")
  end subroutine error_handlers

  subroutine infos
    type(MPI_Info) :: info, twin
    integer :: count, length
    logical :: flag
    character(len=20) :: value
    character(len=MPI_MAX_INFO_KEY) :: key
    call MPI_Info_create(info)
    call MPI_Info_set(info, " colour ", "deep blue  ")
    call MPI_Info_set(info, "size", "5")
    call MPI_Info_dup(info, twin)
    call MPI_Info_get_nkeys(twin, count)
    call MPI_Info_get_nthkey(twin, 0, key)
    call expect(count == 2 .and. key == "colour", "MPI_Info_get_nthkey")
    length = 20
    call MPI_Info_get_string(twin, "colour", length, value, flag)
    call expect(flag .and. value == "deep blue" .and. length == 9, "MPI_Info_get_string")
    value = "as it was"
    call MPI_Info_get_string(twin, "none", length, value, flag)
    call expect(.not. flag .and. value == "as it was", "a key that is not there")
    call MPI_Info_delete(twin, "size")
    call MPI_Info_get_valuelen(twin, "size", length, flag)
    call expect(.not. flag, "MPI_Info_delete")
    call MPI_Info_free(twin)
    call MPI_Info_free(info)
    call MPI_Info_create_env(info)
    call MPI_Info_free(info)
    call expect(info == MPI_INFO_NULL, "MPI_Info_free")
  end subroutine infos

  subroutine sessions
    type(MPI_Session) :: session
    type(MPI_Group) :: group
    type(MPI_Comm) :: comm
    type(MPI_Errhandler) :: handler
    integer :: count, length, size, code
    character(len=100) :: name
    call MPI_Session_create_errhandler(session_failed, handler)
    call MPI_Session_init(MPI_INFO_NULL, handler, session)
    call MPI_Session_get_num_psets(session, MPI_INFO_NULL, count)
    length = 100
    call MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, length, name)
    call expect(count >= 2 .and. len_trim(name) == length, "MPI_Session_get_nth_pset")
    call MPI_Group_from_session_pset(session, "mpi://WORLD ", group)
    call MPI_Comm_create_from_group(group, "f08", MPI_INFO_NULL, MPI_ERRORS_RETURN, comm)
    call MPI_Comm_size(comm, size)
    call expect(size == ranks, "MPI_Comm_create_from_group")
    call MPI_Group_free(group)
    call MPI_Comm_free(comm)
    call MPI_Group_from_session_pset(session, "app://none", group, code)
    call expect(code /= MPI_SUCCESS .and. failed_session == session, "an error handler of a session")
    call MPI_Errhandler_free(handler)
    call MPI_Session_finalize(session)
    call expect(session == MPI_SESSION_NULL, "MPI_Session_finalize")
  end subroutine sessions

  subroutine requests
    type(MPI_Request) :: request
    type(MPI_Status) :: status
    integer :: count
    call MPI_Grequest_start(query, release, cancel, 4_MPI_ADDRESS_KIND, request)
    call MPI_Cancel(request)
    call MPI_Grequest_complete(request)
    call MPI_Wait(request, status)
    call MPI_Get_elements(status, MPI_INTEGER, count)
    call expect(count == 4 .and. status%MPI_TAG == 5 .and. freed == 4 .and. cancelled == 4, "a generalized request")
    call expect(request == MPI_REQUEST_NULL, "a generalized request that has ended")
  end subroutine requests

  subroutine environment
    character(len=MPI_MAX_PROCESSOR_NAME) :: name
    character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: library
    integer :: length, major, minor
    logical :: flag
    logical :: yes, no
    call MPI_Get_processor_name(name, length)
    call expect(length == len_trim(name) .and. length > 0, "MPI_Get_processor_name")
    call MPI_Get_library_version(library, length)
    call expect(length == len_trim(library), "MPI_Get_library_version")
    call MPI_Get_version(major, minor)
    call expect(major == MPI_VERSION .and. minor == MPI_SUBVERSION, "MPI_Get_version")
    call MPI_Is_thread_main(flag)
    call expect(flag, "MPI_Is_thread_main")
    call MPI_Finalized(flag)
    call expect(.not. flag, "MPI_Finalized")
    call MPI_Abi_set_fortran_booleans(4, .true., .false., length)
    call MPI_Abi_get_fortran_booleans(4, yes, no, flag)
    call expect(flag .and. yes .and. .not. no, "MPI_Abi_get_fortran_booleans")
    call PMPI_Comm_rank(MPI_COMM_WORLD, length)
    call expect(length == rank, "PMPI_Comm_rank")
    call expect(MPI_Wtick() > 0, "MPI_Wtick")
  end subroutine environment
end program f08_objects
