! SPDX-FileCopyrightText: 2026 the Weft authors
! SPDX-License-Identifier: BSD-3-Clause
! Files through mpi_f08: sections with gaps, views, split and nonblocking calls, errors, a data representation.
module representation
  use mpi_f08
  use, intrinsic :: iso_c_binding
  implicit none
  integer :: extents = 0

contains

  subroutine extent_of(datatype, extent, extra_state, ierror)
    type(MPI_Datatype) :: datatype
    integer(MPI_ADDRESS_KIND) :: extent, extra_state, lb
    integer :: ierror
    call MPI_Type_get_extent(datatype, lb, extent)
    extents = extents + int(extra_state)
    ierror = MPI_SUCCESS
  end subroutine extent_of

  ! The file holds the negative of each number; extra_state is 1.
  subroutine negate(userbuf, datatype, count, filebuf, position, extra_state, ierror)
    type(c_ptr), value :: userbuf, filebuf
    type(MPI_Datatype) :: datatype
    integer :: count, ierror
    integer(MPI_OFFSET_KIND) :: position
    integer(MPI_ADDRESS_KIND) :: extra_state
    integer, pointer :: user(:), file(:)
    call c_f_pointer(userbuf, user, [count + int(position)])
    call c_f_pointer(filebuf, file, [count])
    file = -user(int(position) + 1:) * int(extra_state)
    ierror = MPI_SUCCESS
    if (datatype /= MPI_INTEGER) ierror = MPI_ERR_CONVERSION
  end subroutine negate

  subroutine restore(userbuf, datatype, count, filebuf, position, extra_state, ierror)
    type(c_ptr), value :: userbuf, filebuf
    type(MPI_Datatype) :: datatype
    integer :: count, ierror
    integer(MPI_OFFSET_KIND) :: position
    integer(MPI_ADDRESS_KIND) :: extra_state
    integer, pointer :: user(:), file(:)
    call c_f_pointer(userbuf, user, [count + int(position)])
    call c_f_pointer(filebuf, file, [count])
    user(int(position) + 1:) = -file * int(extra_state)
    ierror = MPI_SUCCESS
    if (datatype /= MPI_INTEGER) ierror = MPI_ERR_CONVERSION
  end subroutine restore
end module representation

program f08_files
  use mpi_f08
  use representation
  implicit none
  integer :: rank, ranks, wrong = 0
  integer(MPI_OFFSET_KIND), parameter :: start = 0
  character(len=40) :: name
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  write (name, "('f08_files.', i0, '.tmp')") ranks
  call data
  call views
  call errors
  call converted
  if (wrong /= 0) call MPI_Abort(MPI_COMM_WORLD, 1)
  call MPI_Finalize()

contains

  include "expect.inc"

  subroutine data
    type(MPI_File) :: file
    type(MPI_Request) :: request
    type(MPI_Status) :: status
    integer, asynchronous :: from(2, 3), into(6)
    integer(MPI_OFFSET_KIND) :: mine, size
    integer :: count, amode
    mine = 12 * rank
    from = -1
    from(2, :) = [1, 2, 3] + 10 * rank
    into = -1
    call MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR + MPI_MODE_CREATE + MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, file)
    call MPI_File_set_size(file, start)
    call MPI_File_get_amode(file, amode)
    call expect(iand(amode, MPI_MODE_RDWR) /= 0, "MPI_File_get_amode")
    call MPI_File_write_at(file, mine, from(2, :), 3, MPI_INTEGER, status)
    call MPI_Get_count(status, MPI_INTEGER, count)
    call expect(count == 3, "MPI_File_write_at of a row")
    call MPI_File_sync(file)
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_File_get_size(file, size)
    call expect(size == 12 * ranks, "MPI_File_get_size")
    mine = 12 * mod(rank + 1, ranks)
    call MPI_File_iread_at(file, mine, into(2:6:2), 3_MPI_COUNT_KIND, MPI_INTEGER, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call expect(all(into(2:6:2) == [1, 2, 3] + 10 * mod(rank + 1, ranks)) .and. all(into(1:6:2) == -1), &
                "MPI_File_iread_at into a section")
    into = -1
    call MPI_File_read_at_all_begin(file, mine, into(1:6:2), 3, MPI_INTEGER)
    call MPI_File_read_at_all_end(file, into(1:6:2), status)
    call MPI_Get_count(status, MPI_INTEGER, count)
    call expect(count == 3 .and. all(into(1:6:2) == [1, 2, 3] + 10 * mod(rank + 1, ranks)), "MPI_File_read_at_all_begin")
    call MPI_File_seek(file, mine, MPI_SEEK_SET)
    call MPI_File_read(file, count, 1, MPI_INTEGER, MPI_STATUS_IGNORE)
    call MPI_File_get_position(file, size)
    call expect(count == 1 + 10 * mod(rank + 1, ranks) .and. size == mine + 4, "MPI_File_seek")
    call MPI_File_close(file)
    call expect(file == MPI_FILE_NULL, "MPI_File_close")
  end subroutine data

  subroutine views
    type(MPI_File) :: file
    type(MPI_Datatype) :: filetype, etype, got
    integer :: numbers(4), i
    integer(MPI_OFFSET_KIND) :: disp
    logical :: flag
    character(len=MPI_MAX_DATAREP_STRING) :: datarep
    call MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR + MPI_MODE_CREATE + MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, file)
    call MPI_Type_vector(4, 1, ranks, MPI_INTEGER, filetype)
    call MPI_Type_commit(filetype)
    disp = 4 * rank
    call MPI_File_set_view(file, disp, MPI_INTEGER, filetype, "native", MPI_INFO_NULL)
    call MPI_File_get_view(file, disp, etype, got, datarep)
    call expect(disp == 4 * rank .and. etype == MPI_INTEGER .and. datarep == "native", "MPI_File_get_view")
    call MPI_Type_free(got)
    call MPI_Type_free(filetype)
    call MPI_File_write_all(file, [(ranks * i + rank, i = 0, 3)], 4, MPI_INTEGER, MPI_STATUS_IGNORE)
    call MPI_File_set_view(file, start, MPI_INTEGER, MPI_INTEGER, "native", MPI_INFO_NULL)
    call MPI_File_read_at_all(file, start, numbers, 4, MPI_INTEGER, MPI_STATUS_IGNORE)
    call expect(all(numbers == [0, 1, 2, 3]), "interleaved views")
    call MPI_File_set_atomicity(file, .true.)
    call MPI_File_get_atomicity(file, flag)
    call expect(flag, "MPI_File_get_atomicity")
    call MPI_File_close(file)
  end subroutine views

  subroutine errors
    type(MPI_File) :: file
    integer :: code, class
    call MPI_File_open(MPI_COMM_WORLD, "no/such/folder ", MPI_MODE_RDONLY, MPI_INFO_NULL, file, code)
    call MPI_Error_class(code, class)
    call expect(class == MPI_ERR_NO_SUCH_FILE, "MPI_File_open of no file")
    call MPI_File_delete("no_such_file", MPI_INFO_NULL, code)
    call MPI_Error_class(code, class)
    call expect(class == MPI_ERR_NO_SUCH_FILE, "MPI_File_delete of no file")
  end subroutine errors

  subroutine converted
    type(MPI_File) :: file
    integer :: numbers(3), got(3)
    integer(MPI_ADDRESS_KIND), parameter :: state = 1
    call MPI_Register_datarep("negative ", restore, negate, extent_of, state)
    call MPI_File_open(MPI_COMM_SELF, trim(name) // char(ichar("a") + rank), &
                       MPI_MODE_RDWR + MPI_MODE_CREATE + MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, file)
    call MPI_File_set_view(file, start, MPI_INTEGER, MPI_INTEGER, "negative", MPI_INFO_NULL)
    numbers = [7, 8, 9]
    call MPI_File_write_at(file, start, numbers, 3, MPI_INTEGER, MPI_STATUS_IGNORE)
    got = 0
    call MPI_File_read_at(file, start, got, 3, MPI_INTEGER, MPI_STATUS_IGNORE)
    call expect(all(got == [7, 8, 9]), "a data representation of our own")
    call MPI_File_set_view(file, start, MPI_INTEGER, MPI_INTEGER, "native", MPI_INFO_NULL)
    call MPI_File_read_at(file, start, got, 3, MPI_INTEGER, MPI_STATUS_IGNORE)
    call expect(all(got == -[7, 8, 9]), "the file of a data representation of our own")
    call expect(extents > 0, "the extents of a data representation")
    call MPI_File_close(file)
  end subroutine converted
end program f08_files
