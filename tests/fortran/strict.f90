! SPDX-FileCopyrightText: 2026 the Weft authors
! SPDX-License-Identifier: BSD-3-Clause
! Both modules in a program that is compiled as Fortran 2008 without extensions (CMakeLists.txt): a procedure with a
! buffer and a logical stood in their way.
subroutine by_mpi(right)
  use mpi
  implicit none
  logical, intent(out) :: right
  logical :: yes, no, is_set
  integer :: length, ierror
  yes = .false.
  no = .true.
  is_set = .false.
  call MPI_Type_size(MPI_LOGICAL, length, ierror)
  call MPI_Abi_get_fortran_booleans(length, yes, no, is_set, ierror)
  right = ierror == MPI_SUCCESS .and. is_set .and. yes .and. .not. no
end subroutine by_mpi

subroutine by_mpi_f08(right)
  use mpi_f08
  implicit none
  logical, intent(out) :: right
  logical :: yes, no, is_set
  integer :: length
  yes = .false.
  no = .true.
  is_set = .false.
  call MPI_Type_size(MPI_LOGICAL, length)
  call MPI_Abi_get_fortran_booleans(length, yes, no, is_set)
  right = is_set .and. yes .and. .not. no
end subroutine by_mpi_f08

program strict
  use mpi_f08
  implicit none
  integer :: rank, wrong, length, buffer(4)
  logical :: right
  wrong = 0
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  buffer = rank + 5
  call MPI_Bcast(buffer, 4, MPI_INTEGER, 0, MPI_COMM_WORLD)
  call expect(all(buffer == 5), "MPI_Bcast")
  call MPI_Type_size(MPI_LOGICAL, length)
  call MPI_Abi_set_fortran_booleans(length, .true., .false.)
  call by_mpi(right)
  call expect(right, "mpi: MPI_Abi_get_fortran_booleans")
  call by_mpi_f08(right)
  call expect(right, "mpi_f08: MPI_Abi_get_fortran_booleans")
  call MPI_Finalize()
  if (wrong > 0) error stop 1
contains
  include 'expect.inc'
end program strict
