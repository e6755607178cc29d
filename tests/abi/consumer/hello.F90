! SPDX-FileCopyrightText: 2026 the Weft authors
! SPDX-License-Identifier: BSD-3-Clause
program hello
#if defined(INTERFACE_mpi_f08)
  use mpi_f08
#elif defined(INTERFACE_mpi)
  use mpi
#endif
  implicit none
#if defined(INTERFACE_mpif)
  include 'mpif.h'
#endif
  character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: version
  integer :: length, rank, ierror
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Get_library_version(version, length, ierror)
  print '(2a, i0)', version(1:length), ' rank ', rank
  call MPI_Finalize(ierror)
end program hello
