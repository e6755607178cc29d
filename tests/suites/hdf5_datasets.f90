! SPDX-FileCopyrightText: 2026 the Weft authors
! SPDX-License-Identifier: BSD-3-Clause
! All ranks write two data sets of HDF5 together, a contiguous one in blocks of columns and a chunked one of which each rank has
! every P-th row. Each rank writes its rows of a third one, chunked too, by itself. Each rank reads all of them, the third one by
! itself, and compares each element. Prints how many were right and how many wrong.
program hdf5_datasets
  use hdf5
  use mpi
  implicit none
  integer, parameter :: rows_of_rank = 18, columns_of_rank = 25
  character(len=*), parameter :: names(3) = [character(len=11) :: "columns", "rows", "independent"]
  integer(hsize_t) :: shape_of_all(2), counts_of_rank(2), start(2), stride(2)
  integer(hid_t) :: access, creation, transfer, file
  integer :: ranks, rank, error, set
  integer :: counts(2), sums(2)

  call MPI_Init(error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  shape_of_all = [rows_of_rank * ranks, columns_of_rank * ranks]

  call h5open_f(error)
  call check(error)
  call h5pcreate_f(H5P_FILE_ACCESS_F, access, error)
  call h5pset_fapl_mpio_f(access, MPI_COMM_WORLD, MPI_INFO_NULL, error)
  call check(error)
  call h5pcreate_f(H5P_DATASET_XFER_F, transfer, error)
  call check(error)

  call h5fcreate_f("datasets_fortran.h5", H5F_ACC_TRUNC_F, file, error, access_prp=access)
  call check(error)
  do set = 1, size(names)
    call choose_mode()
    call h5pcreate_f(H5P_DATASET_CREATE_F, creation, error)
    if (set == 1) then
      start = [0, rank * columns_of_rank]
      stride = [1, 1]
      counts_of_rank = [rows_of_rank * ranks, columns_of_rank]
    else
      call h5pset_chunk_f(creation, 2, [10_hsize_t, 8_hsize_t], error)
      start = [rank, 0]
      stride = [ranks, 1]
      counts_of_rank = [rows_of_rank, columns_of_rank * ranks]
    end if
    call check(error)
    call write_set(trim(names(set)))
    call h5pclose_f(creation, error)
  end do
  call h5fclose_f(file, error)
  call check(error)

  counts = 0
  call h5fopen_f("datasets_fortran.h5", H5F_ACC_RDONLY_F, file, error, access_prp=access)
  call check(error)
  do set = 1, size(names)
    call choose_mode()
    call read_set(trim(names(set)))
  end do
  call h5fclose_f(file, error)
  call h5pclose_f(transfer, error)
  call h5pclose_f(access, error)
  call h5close_f(error)

  call MPI_Reduce(counts, sums, 2, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, error)
  if (rank == 0) print '(i0, a, i0, a, i0, a)', ranks, " ranks: ", sums(1), " right, ", sums(2), " wrong"
  call MPI_Finalize(error)

contains

  subroutine choose_mode()
    integer :: mode
    mode = H5FD_MPIO_COLLECTIVE_F
    if (names(set) == "independent") mode = H5FD_MPIO_INDEPENDENT_F
    call h5pset_dxpl_mpio_f(transfer, mode, error)
    call check(error)
  end subroutine choose_mode

  ! The other ranks would wait in the next collective call.
  subroutine check(status)
    integer, intent(in) :: status
    integer :: ignored
    if (status < 0) call MPI_Abort(MPI_COMM_WORLD, 2, ignored)
  end subroutine check

  elemental function value_at(row, column) result(value)
    integer(hsize_t), intent(in) :: row, column
    double precision :: value
    value = set + 0.5d0 * row + 1000d0 * column
  end function value_at

  subroutine write_set(name)
    character(len=*), intent(in) :: name
    double precision :: part(counts_of_rank(1), counts_of_rank(2))
    integer(hid_t) :: space, memory, id
    integer(hsize_t) :: i, j
    do j = 1, counts_of_rank(2)
      do i = 1, counts_of_rank(1)
        part(i, j) = value_at(start(1) + (i - 1) * stride(1), start(2) + (j - 1) * stride(2))
      end do
    end do
    call h5screate_simple_f(2, shape_of_all, space, error)
    call h5dcreate_f(file, name, H5T_NATIVE_DOUBLE, space, id, error, dcpl_id=creation)
    call check(error)
    call h5screate_simple_f(2, counts_of_rank, memory, error)
    call h5sselect_hyperslab_f(space, H5S_SELECT_SET_F, start, counts_of_rank, error, stride=stride)
    call check(error)
    call h5dwrite_f(id, H5T_NATIVE_DOUBLE, part, counts_of_rank, error, memory, space, transfer)
    call check(error)
    call h5sclose_f(memory, error)
    call h5sclose_f(space, error)
    call h5dclose_f(id, error)
  end subroutine write_set

  subroutine read_set(name)
    character(len=*), intent(in) :: name
    double precision :: all(shape_of_all(1), shape_of_all(2))
    integer(hid_t) :: id
    integer(hsize_t) :: i, j
    all = -1
    call h5dopen_f(file, name, id, error)
    call check(error)
    call h5dread_f(id, H5T_NATIVE_DOUBLE, all, shape_of_all, error, xfer_prp=transfer)
    call check(error)
    do j = 1, shape_of_all(2)
      do i = 1, shape_of_all(1)
        if (all(i, j) == value_at(i - 1, j - 1)) then
          counts(1) = counts(1) + 1
        else
          counts(2) = counts(2) + 1
        end if
      end do
    end do
    call h5dclose_f(id, error)
  end subroutine read_set
end program hdf5_datasets
