! SPDX-FileCopyrightText: 2026 the Weft authors
! SPDX-License-Identifier: BSD-3-Clause
! Attributes that one language has set, read in the other (MPI-5.0, 19.3.7): C reads a pointer to the integer of Fortran,
! and Fortran the address of C; a copy is of the language that has set the first. languages.c is the other half.
module increments
  use mpi
  implicit none

contains

  subroutine copy(comm, keyval, extra, from, made, flag, ierror)
    integer :: comm, keyval, ierror
    integer(MPI_ADDRESS_KIND) :: extra, from, made
    logical :: flag
    made = from + extra
    flag = comm /= MPI_COMM_NULL .and. keyval /= MPI_KEYVAL_INVALID
    ierror = MPI_SUCCESS
  end subroutine copy
end module increments

program languages
  use mpi
  use increments
  use, intrinsic :: iso_c_binding
  implicit none
  interface
    subroutine c_keys(same, other) bind(C)
      import :: c_int
      integer(c_int) :: same, other
    end subroutine c_keys
    integer(c_intptr_t) function c_address(number) bind(C)
      import :: c_int, c_intptr_t
      integer(c_int), value :: number
    end function c_address
    ! What C reads: the integer, where it is, and the pointer itself.
    subroutine c_read(comm, key, integer, short, pointer) bind(C)
      import :: c_int, c_intptr_t
      integer(c_int), value :: comm, key
      integer(c_intptr_t) :: integer, pointer
      integer(c_int) :: short
    end subroutine c_read
    subroutine c_set(comm, key, pointer) bind(C)
      import :: c_int, c_intptr_t
      integer(c_int), value :: comm, key
      integer(c_intptr_t), value :: pointer
    end subroutine c_set
    subroutine c_change(comm, key, by) bind(C)
      import :: c_int
      integer(c_int), value :: comm, key, by
    end subroutine c_change
    integer(c_intptr_t) function c_read_type(datatype, key) bind(C)
      import :: c_int, c_intptr_t
      integer(c_int), value :: datatype, key
    end function c_read_type
    integer(c_intptr_t) function c_read_win(win, key) bind(C)
      import :: c_int, c_intptr_t
      integer(c_int), value :: win, key
    end function c_read_win
  end interface
  integer(MPI_ADDRESS_KIND), parameter :: large = -3_MPI_ADDRESS_KIND * 2_MPI_ADDRESS_KIND**40
  integer :: ierror, rank, wrong, key, second, old
  wrong = 0
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, key, 1_MPI_ADDRESS_KIND, ierror)
  call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, second, 0_MPI_ADDRESS_KIND, ierror)
  call MPI_Keyval_create(MPI_DUP_FN, MPI_NULL_DELETE_FN, old, 0, ierror)
  call set_by_fortran
  call set_by_c
  call keys_of_c
  call equal_values
  call places
  call other_objects
  if (wrong /= 0) call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
  call MPI_Finalize(ierror)

contains

  include "expect.inc"

  subroutine set_by_fortran
    integer :: comm, short, number
    integer(MPI_ADDRESS_KIND) :: value, pointer
    logical :: flag
    call MPI_Comm_set_attr(MPI_COMM_SELF, key, large, ierror)
    call MPI_Comm_dup(MPI_COMM_SELF, comm, ierror)
    call c_read(MPI_COMM_SELF, key, value, short, pointer)
    call expect(value == large, "an address of Fortran, read in C")
    call c_read(comm, key, value, short, pointer)
    call expect(value == large + 1, "a copy of Fortran, read in C")
    call MPI_Comm_free(comm, ierror)
    call c_read(MPI_COMM_SELF, key, value, short, pointer)
    call expect(value == large, "the first, when the copy is gone")
    call MPI_Attr_put(MPI_COMM_SELF, old, -7, ierror)
    call c_read(MPI_COMM_SELF, old, value, short, pointer)
    call expect(short == -7, "an INTEGER of Fortran, read in C")
    call MPI_Comm_get_attr(MPI_COMM_SELF, old, value, flag, ierror)
    call expect(flag .and. value == -7, "an INTEGER of Fortran, read as an address")
    call MPI_Comm_set_attr(MPI_COMM_SELF, second, large + 5, ierror)
    call MPI_Attr_get(MPI_COMM_SELF, second, number, flag, ierror)
    call expect(flag .and. number == 5, "an address of Fortran, read as an INTEGER")
    call MPI_Comm_delete_attr(MPI_COMM_SELF, old, ierror)
  end subroutine set_by_fortran

  subroutine set_by_c
    integer :: comm, short
    integer(MPI_ADDRESS_KIND) :: value, pointer, address
    logical :: flag
    address = c_address(0)
    call c_set(MPI_COMM_SELF, key, address)
    call MPI_Comm_get_attr(MPI_COMM_SELF, key, value, flag, ierror)
    call expect(flag .and. value == address, "a pointer of C, read in Fortran")
    call MPI_Comm_dup(MPI_COMM_SELF, comm, ierror)
    call c_read(comm, key, value, short, pointer)
    call expect(pointer == address + 1, "a pointer of C, copied in Fortran, read in C")
    call MPI_Comm_free(comm, ierror)
    call c_set(MPI_COMM_SELF, key, 0_c_intptr_t)
    call MPI_Comm_dup(MPI_COMM_SELF, comm, ierror)
    call MPI_Comm_get_attr(comm, key, value, flag, ierror)
    call expect(flag .and. value == 1, "a null pointer of C, copied in Fortran")
    call MPI_Comm_free(comm, ierror)
    call MPI_Comm_delete_attr(MPI_COMM_SELF, key, ierror)
  end subroutine set_by_c

  subroutine keys_of_c
    integer :: comm, same, other, short
    integer(MPI_ADDRESS_KIND) :: value, pointer
    logical :: flag
    call c_keys(same, other)
    call MPI_Comm_set_attr(MPI_COMM_SELF, same, large, ierror)
    call MPI_Comm_set_attr(MPI_COMM_SELF, other, 1_MPI_ADDRESS_KIND, ierror)
    call MPI_Comm_dup(MPI_COMM_SELF, comm, ierror)
    call MPI_Comm_delete_attr(MPI_COMM_SELF, same, ierror)
    call MPI_Comm_get_attr(comm, same, value, flag, ierror)
    call expect(flag .and. value == large, "an integer that C has copied, read in Fortran")
    call c_read(comm, same, value, short, pointer)
    call expect(value == large, "an integer that C has copied, read in C")
    ! The copy function of C finds the integer 1 and gives its number of that.
    call MPI_Comm_get_attr(comm, other, value, flag, ierror)
    call expect(flag .and. value == c_address(1), "an address that C made of an integer")
    call MPI_Comm_free(comm, ierror)
    call MPI_Comm_delete_attr(MPI_COMM_SELF, other, ierror)
    call MPI_Comm_free_keyval(same, ierror)
    call MPI_Comm_free_keyval(other, ierror)
  end subroutine keys_of_c

  ! Each attribute has an integer of its own.
  subroutine equal_values
    integer(MPI_ADDRESS_KIND) :: value
    logical :: flag
    call MPI_Comm_set_attr(MPI_COMM_SELF, key, 40_MPI_ADDRESS_KIND, ierror)
    call MPI_Comm_set_attr(MPI_COMM_SELF, second, 40_MPI_ADDRESS_KIND, ierror)
    call c_change(MPI_COMM_SELF, key, 2)
    call MPI_Comm_get_attr(MPI_COMM_SELF, key, value, flag, ierror)
    call expect(flag .and. value == 42, "an integer that C has changed")
    call MPI_Comm_get_attr(MPI_COMM_SELF, second, value, flag, ierror)
    call expect(flag .and. value == 40, "another one")
  end subroutine equal_values

  ! The integers of attributes that are gone, and of calls that fail, are used again.
  subroutine places
    integer :: i, short, ierror
    integer(MPI_ADDRESS_KIND) :: value, pointer, first, last
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, ierror)
    first = huge(first)
    last = 0
    do i = 1, 5000
      call MPI_Comm_set_attr(MPI_COMM_SELF, key, int(i, MPI_ADDRESS_KIND), ierror)
      call c_read(MPI_COMM_SELF, key, value, short, pointer)
      if (value /= i) call expect(.false., "the last of many values")
      first = min(first, pointer)
      last = max(last, pointer)
      call MPI_Comm_set_attr(MPI_COMM_SELF, MPI_KEYVAL_INVALID, value, ierror)
      if (ierror == MPI_SUCCESS) call expect(.false., "a wrong key")
    end do
    call expect(last - first < 5000, "places of many values, one after the other")
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL, ierror)
  end subroutine places

  subroutine other_objects
    integer :: type_key, win_key, datatype, copied, win
    integer(MPI_ADDRESS_KIND) :: value
    logical :: flag
    call MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, type_key, 0_MPI_ADDRESS_KIND, ierror)
    call MPI_Type_contiguous(2, MPI_INTEGER, datatype, ierror)
    call MPI_Type_set_attr(datatype, type_key, large, ierror)
    call MPI_Type_dup(datatype, copied, ierror)
    call expect(c_read_type(copied, type_key) == large, "an attribute of a datatype")
    call MPI_Type_get_attr(copied, type_key, value, flag, ierror)
    call expect(flag .and. value == large, "the same in Fortran")
    call MPI_Type_free(datatype, ierror)
    call MPI_Type_free(copied, ierror)
    call MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, win_key, 0_MPI_ADDRESS_KIND, ierror)
    call MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, win, ierror)
    call MPI_Win_set_attr(win, win_key, large - 1, ierror)
    call expect(c_read_win(win, win_key) == large - 1, "an attribute of a window")
    call MPI_Win_get_attr(win, win_key, value, flag, ierror)
    call expect(flag .and. value == large - 1, "the same in Fortran")
    call MPI_Win_free(win, ierror)
  end subroutine other_objects
end program languages
