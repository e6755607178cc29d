! SPDX-FileCopyrightText: 2026 the Weft authors
! SPDX-License-Identifier: BSD-3-Clause
! Datatypes through mpi_f08: constructors with counts of both kinds, their contents, packing, addresses, sizes, attributes.
module type_attributes
  use mpi_f08
  implicit none
  integer :: copied = 0, deleted = 0

contains

  subroutine copy(object, keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
    type(MPI_Datatype) :: object
    integer :: keyval, ierror
    integer(MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
    logical :: flag
    attribute_val_out = attribute_val_in + extra_state
    flag = object /= MPI_DATATYPE_NULL .and. keyval /= MPI_KEYVAL_INVALID
    copied = copied + 1
    ierror = MPI_SUCCESS
  end subroutine copy

  subroutine remove(object, keyval, attribute_val, extra_state, ierror)
    type(MPI_Datatype) :: object
    integer :: keyval, ierror
    integer(MPI_ADDRESS_KIND) :: attribute_val, extra_state
    if (object /= MPI_DATATYPE_NULL .and. keyval /= MPI_KEYVAL_INVALID) deleted = deleted + int(attribute_val - extra_state)
    ierror = MPI_SUCCESS
  end subroutine remove
end module type_attributes

program f08_types
  use mpi_f08
  use type_attributes
  implicit none
  integer :: rank, wrong = 0
  integer(MPI_COUNT_KIND), parameter :: one = 1, two = 2, large = 2_MPI_COUNT_KIND**32
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call constructors
  call contents
  call packing
  call addresses
  call names_and_attributes
  call sizes
  if (wrong /= 0) call MPI_Abort(MPI_COMM_WORLD, 1)
  call MPI_Finalize()

contains

  include "expect.inc"

  subroutine measure(made, bytes, extent, what)
    type(MPI_Datatype), intent(inout) :: made
    integer(MPI_COUNT_KIND), intent(in) :: bytes, extent
    character(len=*), intent(in) :: what
    integer(MPI_COUNT_KIND) :: size, lb, ub
    call MPI_Type_commit(made)
    call MPI_Type_size(made, size)
    call MPI_Type_get_extent(made, lb, ub)
    call expect(size == bytes .and. ub == extent, what)
    call MPI_Type_free(made)
  end subroutine measure

  subroutine constructors
    type(MPI_Datatype) :: made
    integer :: size
    call MPI_Type_contiguous(large, MPI_INTEGER, made)
    call MPI_Type_size(made, size)
    call expect(size == MPI_UNDEFINED, "the size of a large datatype as an INTEGER")
    call measure(made, 4 * large, 4 * large, "MPI_Type_contiguous")
    call MPI_Type_vector(3, 2, 4, MPI_INTEGER, made)
    call measure(made, 24_MPI_COUNT_KIND, 40_MPI_COUNT_KIND, "MPI_Type_vector")
    call MPI_Type_vector(two, one, large, MPI_INTEGER, made)
    call measure(made, 8_MPI_COUNT_KIND, 4 * large + 4, "MPI_Type_vector of large counts")
    call MPI_Type_create_hvector(2, 1, 100_MPI_ADDRESS_KIND, MPI_INTEGER, made)
    call measure(made, 8_MPI_COUNT_KIND, 104_MPI_COUNT_KIND, "MPI_Type_create_hvector")
    call MPI_Type_indexed(2, [1, 2], [5, 0], MPI_INTEGER, made)
    call measure(made, 12_MPI_COUNT_KIND, 24_MPI_COUNT_KIND, "MPI_Type_indexed")
    call MPI_Type_indexed(two, [one, two], [large, one], MPI_INTEGER, made)
    call measure(made, 12_MPI_COUNT_KIND, 4 * large, "MPI_Type_indexed of large counts")
    call MPI_Type_create_hindexed(2, [1, 2], [0_MPI_ADDRESS_KIND, 40_MPI_ADDRESS_KIND], MPI_INTEGER, made)
    call measure(made, 12_MPI_COUNT_KIND, 48_MPI_COUNT_KIND, "MPI_Type_create_hindexed")
    call MPI_Type_create_indexed_block(2, 2, [0, 4], MPI_INTEGER, made)
    call measure(made, 16_MPI_COUNT_KIND, 24_MPI_COUNT_KIND, "MPI_Type_create_indexed_block")
    call MPI_Type_create_hindexed_block(two, two, [0 * one, 20 * one], MPI_INTEGER, made)
    call measure(made, 16_MPI_COUNT_KIND, 28_MPI_COUNT_KIND, "MPI_Type_create_hindexed_block")
    call MPI_Type_create_struct(2, [1, 2], [0_MPI_ADDRESS_KIND, 8_MPI_ADDRESS_KIND], [MPI_INTEGER, MPI_DOUBLE_PRECISION], made)
    call measure(made, 20_MPI_COUNT_KIND, 24_MPI_COUNT_KIND, "MPI_Type_create_struct")
    call MPI_Type_create_struct(two, [one, two], [0 * one, 8 * one], [MPI_INTEGER, MPI_DOUBLE_PRECISION], made)
    call measure(made, 20_MPI_COUNT_KIND, 24_MPI_COUNT_KIND, "MPI_Type_create_struct of large counts")
    call MPI_Type_create_subarray(2, [4, 6], [2, 3], [1, 1], MPI_ORDER_FORTRAN, MPI_INTEGER, made)
    call measure(made, 24_MPI_COUNT_KIND, 96_MPI_COUNT_KIND, "MPI_Type_create_subarray")
    call MPI_Type_create_darray(2, 0, 1, [8], [MPI_DISTRIBUTE_BLOCK], [MPI_DISTRIBUTE_DFLT_DARG], [2], MPI_ORDER_FORTRAN, &
                                MPI_INTEGER, made)
    call measure(made, 16_MPI_COUNT_KIND, 32_MPI_COUNT_KIND, "MPI_Type_create_darray")
    call MPI_Type_create_resized(MPI_INTEGER, 0_MPI_ADDRESS_KIND, 16_MPI_ADDRESS_KIND, made)
    call measure(made, 4_MPI_COUNT_KIND, 16_MPI_COUNT_KIND, "MPI_Type_create_resized")
    call MPI_Type_create_f90_real(15, 307, made)
    call MPI_Type_size(made, size)
    call expect(size == 8, "MPI_Type_create_f90_real")
    call MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 8, made)
    call expect(made == MPI_INTEGER8, "MPI_Type_match_size")
    call MPI_Type_get_value_index(MPI_DOUBLE_PRECISION, MPI_INTEGER, made)
    call MPI_Type_size(made, size)
    call expect(made == MPI_DATATYPE_NULL .or. size == 12, "MPI_Type_get_value_index")
  end subroutine constructors

  subroutine contents
    type(MPI_Datatype) :: made, parts(2)
    integer :: integers(5), combiner, n(3)
    integer(MPI_COUNT_KIND) :: counts(4), wide(5)
    integer(MPI_ADDRESS_KIND) :: places(2)
    parts = MPI_DATATYPE_NULL
    call MPI_Type_create_struct(2, [1, 2], [0_MPI_ADDRESS_KIND, 8_MPI_ADDRESS_KIND], [MPI_INTEGER, MPI_DOUBLE_PRECISION], made)
    call MPI_Type_get_envelope(made, n(1), n(2), n(3), combiner)
    call expect(combiner == MPI_COMBINER_STRUCT .and. all(n == [3, 2, 2]), "MPI_Type_get_envelope")
    call MPI_Type_get_contents(made, 5, 2, 2, integers, places, parts)
    call expect(all(integers(1:3) == [2, 1, 2]) .and. all(places == [0, 8]), "MPI_Type_get_contents")
    call expect(all(parts == [MPI_INTEGER, MPI_DOUBLE_PRECISION]), "the datatypes of MPI_Type_get_contents")
    call MPI_Type_free(made)
    call MPI_Type_vector(large, two, 3 * one, MPI_REAL, made)
    call MPI_Type_get_envelope(made, counts(1), counts(2), counts(3), counts(4), combiner)
    call expect(all(counts == [0, 0, 3, 1]) .and. combiner == MPI_COMBINER_VECTOR, "MPI_Type_get_envelope of large counts")
    call MPI_Type_get_contents(made, 0 * one, 0 * one, 5 * one, 2 * one, integers, places, wide, parts)
    call expect(all(wide(1:3) == [large, two, 3 * one]) .and. parts(1) == MPI_REAL .and. parts(2) == MPI_DOUBLE_PRECISION, &
                "MPI_Type_get_contents of large counts")
    call MPI_Type_free(made)
  end subroutine contents

  ! Both sides with gaps: the packed bytes go to every second element, too.
  subroutine packing
    integer :: from(6), into(6), packed(8), position, size
    integer(MPI_COUNT_KIND) :: far, bytes
    integer(MPI_ADDRESS_KIND) :: place
    character :: external(12)
    from = [1, 2, 3, 4, 5, 6]
    packed = -1
    position = 0
    call MPI_Pack_size(3, MPI_INTEGER, MPI_COMM_WORLD, size)
    call MPI_Pack(from(2:6:2), 3, MPI_INTEGER, packed(1:8:2), 16, position, MPI_COMM_WORLD)
    call expect(position == 12 .and. size >= 12 .and. all(packed(2:8:2) == -1), "MPI_Pack of a section")
    into = -1
    far = 0
    call MPI_Unpack(packed(1:8:2), 16_MPI_COUNT_KIND, far, into(6:2:-2), 3_MPI_COUNT_KIND, MPI_INTEGER, MPI_COMM_WORLD)
    call expect(far == 12 .and. all(into == [-1, 6, -1, 4, -1, 2]), "MPI_Unpack to a section")
    place = 0
    call MPI_Pack_external("external32", from(1:6:2), 3, MPI_INTEGER, external, 12_MPI_ADDRESS_KIND, place)
    call expect(place == 12 .and. ichar(external(4)) == 1 .and. ichar(external(8)) == 3, "MPI_Pack_external of a section")
    place = 0
    call MPI_Unpack_external("external32 ", external, 12_MPI_ADDRESS_KIND, place, into(1:6:2), 3, MPI_INTEGER)
    call expect(all(into(1:6:2) == [1, 3, 5]), "MPI_Unpack_external to a section")
    call MPI_Pack_external_size("external32", 3_MPI_COUNT_KIND, MPI_INTEGER, bytes)
    call expect(bytes == 12, "MPI_Pack_external_size")
  end subroutine packing

  subroutine addresses
    integer, asynchronous, target :: cells(4)
    integer :: got
    integer(MPI_ADDRESS_KIND) :: first, third
    type(MPI_Datatype) :: made
    type(MPI_Request) :: request
    cells = [1, 2, 3, 4]
    call MPI_Get_address(cells(1), first)
    call MPI_Get_address(cells(3), third)
    call expect(MPI_Aint_diff(third, first) == 8 .and. MPI_Aint_add(first, 8_MPI_ADDRESS_KIND) == third, "MPI_Get_address")
    call MPI_Type_create_hindexed_block(1, 1, [third], MPI_INTEGER, made)
    call MPI_Type_commit(made)
    call MPI_Isend(MPI_BOTTOM, 1, made, rank, 3, MPI_COMM_WORLD, request)
    call MPI_Recv(got, 1, MPI_INTEGER, rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call MPI_F_sync_reg(cells)
    call expect(got == 3, "MPI_BOTTOM")
    call MPI_Type_free(made)
  end subroutine addresses

  subroutine names_and_attributes
    type(MPI_Datatype) :: made, twin
    integer :: key, length
    integer(MPI_ADDRESS_KIND) :: value
    logical :: flag
    character(len=MPI_MAX_OBJECT_NAME) :: name
    call MPI_Type_dup(MPI_INTEGER, made)
    call MPI_Type_set_name(made, "  two words   ")
    call MPI_Type_get_name(made, name, length)
    call expect(name == "  two words" .and. length == 11, "MPI_Type_get_name")
    call MPI_Type_create_keyval(copy, remove, key, 3_MPI_ADDRESS_KIND)
    call MPI_Type_set_attr(made, key, 40_MPI_ADDRESS_KIND)
    call MPI_Type_dup(made, twin)
    call MPI_Type_get_attr(twin, key, value, flag)
    call expect(flag .and. value == 43 .and. copied == 1, "a copied attribute")
    call MPI_Type_free(twin)
    call expect(deleted == 40, "a deleted attribute")
    call MPI_Type_delete_attr(made, key)
    call MPI_Type_get_attr(made, key, value, flag)
    call expect(.not. flag .and. deleted == 77, "MPI_Type_delete_attr")
    call MPI_Type_free_keyval(key)
    call MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, key, 0_MPI_ADDRESS_KIND)
    call MPI_Type_set_attr(made, key, -5_MPI_ADDRESS_KIND)
    call MPI_Type_dup(made, twin)
    call MPI_Type_get_attr(twin, key, value, flag)
    call expect(flag .and. value == -5, "MPI_TYPE_DUP_FN")
    call MPI_Type_free(twin)
    call MPI_Type_free(made)
    call MPI_Type_free_keyval(key)
  end subroutine names_and_attributes

  subroutine sizes
    integer :: bytes
    real(kind(1d0)) :: matrix(3, 3)
    complex :: z
    call MPI_Sizeof(matrix, bytes)
    call expect(bytes == 8, "MPI_Sizeof of an array")
    call MPI_Sizeof(matrix(1:3:2, 2), bytes)
    call expect(bytes == 8, "MPI_Sizeof of a section")
    call MPI_Sizeof(z, bytes)
    call expect(bytes == 8, "MPI_Sizeof of a COMPLEX")
    call MPI_Sizeof(.true., bytes)
    call expect(bytes == 4, "MPI_Sizeof of a LOGICAL")
    call expect(MPI_SUBARRAYS_SUPPORTED .and. MPI_ASYNC_PROTECTS_NONBLOCKING, "what the module says of its buffers")
  end subroutine sizes
end program f08_types
