! SPDX-FileCopyrightText: 2026 the Weft authors
! SPDX-License-Identifier: BSD-3-Clause
! The markers MPI_LB and MPI_UB, which MPICH's mpif.h still has.
      program markers
      implicit none
      include 'mpif.h'
      integer ierror, type, extent, low, high, bytes
      integer lengths(3), places(3), types(3)

      call MPI_INIT(ierror)
      lengths = 1
      places = (/ -4, 0, 28 /)
      types = (/ MPI_LB, MPI_INTEGER, MPI_UB /)
      call MPI_TYPE_STRUCT(3, lengths, places, types, type, ierror)
      call MPI_TYPE_EXTENT(type, extent, ierror)
      call MPI_TYPE_LB(type, low, ierror)
      call MPI_TYPE_UB(type, high, ierror)
      call MPI_TYPE_SIZE(type, bytes, ierror)
      if (extent .ne. 32 .or. low .ne. -4 .or. high .ne. 28 .or.
     &    bytes .ne. 4) then
        print *, extent, low, high, bytes
        call MPI_ABORT(MPI_COMM_WORLD, 1, ierror)
      end if
      call MPI_TYPE_FREE(type, ierror)
      call MPI_FINALIZE(ierror)
      end program markers
