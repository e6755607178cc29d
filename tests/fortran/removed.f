! SPDX-FileCopyrightText: 2026 the Weft authors
! SPDX-License-Identifier: BSD-3-Clause
! Procedures that MPI-3.0 removed, under both of their names. Addresses are INTEGER.
      module handlers
      implicit none
      integer :: failures = 0
      contains
      subroutine failed(comm, code)
      integer comm, code
      if (comm .ne. 0 .and. code .ne. 0) failures = failures + 1
      end subroutine failed
      end module handlers

      program removed
      use handlers
      implicit none
      include 'mpif.h'
      integer ierror, rank, wrong, type, extent, low, high, bytes
      integer handler, found, comm, address
      integer lengths(2), places(2), types(2), numbers(8), got(8), i
      integer status(MPI_STATUS_SIZE)

      wrong = 0
      call MPI_INIT(ierror)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierror)

!     A number at 4 and two at 16 bytes.
      lengths = (/ 1, 2 /)
      places = (/ 4, 16 /)
      types = (/ MPI_INTEGER, MPI_INTEGER /)
      call MPI_TYPE_STRUCT(2, lengths, places, types, type, ierror)
      call MPI_TYPE_COMMIT(type, ierror)
      call MPI_TYPE_EXTENT(type, extent, ierror)
      call MPI_TYPE_LB(type, low, ierror)
      call MPI_TYPE_UB(type, high, ierror)
      if (extent .ne. 20 .or. low .ne. 4 .or. high .ne. 24)
     &  wrong = wrong + 1
      do i = 1, 8
        numbers(i) = i
        got(i) = 0
      end do
      call MPI_SENDRECV(numbers, 1, type, rank, 1, got, 8, MPI_INTEGER,
     &  rank, 1, MPI_COMM_WORLD, status, ierror)
      if (got(1) .ne. 2 .or. got(2) .ne. 5 .or. got(3) .ne. 6)
     &  wrong = wrong + 1
      call MPI_TYPE_FREE(type, ierror)

      call PMPI_TYPE_STRUCT(2, lengths, places, types, type, ierror)
      call PMPI_TYPE_EXTENT(type, extent, ierror)
      call PMPI_TYPE_LB(type, low, ierror)
      call PMPI_TYPE_UB(type, high, ierror)
      if (extent .ne. 20 .or. low .ne. 4 .or. high .ne. 24)
     &  wrong = wrong + 1
      call MPI_TYPE_FREE(type, ierror)

      call MPI_TYPE_HVECTOR(3, 1, 12, MPI_INTEGER, type, ierror)
      call MPI_TYPE_EXTENT(type, extent, ierror)
      if (extent .ne. 28) wrong = wrong + 1
      call MPI_TYPE_FREE(type, ierror)
      call PMPI_TYPE_HVECTOR(3, 1, 12, MPI_INTEGER, type, ierror)
      call MPI_TYPE_EXTENT(type, extent, ierror)
      if (extent .ne. 28) wrong = wrong + 1
      call MPI_TYPE_FREE(type, ierror)
      call MPI_TYPE_HINDEXED(2, lengths, places, MPI_INTEGER, type,
     &  ierror)
      call MPI_TYPE_SIZE(type, bytes, ierror)
      call MPI_TYPE_UB(type, high, ierror)
      if (bytes .ne. 12 .or. high .ne. 24) wrong = wrong + 1
      call MPI_TYPE_FREE(type, ierror)
      call PMPI_TYPE_HINDEXED(2, lengths, places, MPI_INTEGER, type,
     &  ierror)
      call MPI_TYPE_UB(type, high, ierror)
      if (high .ne. 24) wrong = wrong + 1
      call MPI_TYPE_FREE(type, ierror)

!     The address of a variable, or an error: INTEGER may not hold it.
      address = -1
      call MPI_ADDRESS(MPI_BOTTOM, address, ierror)
      if (ierror .ne. MPI_SUCCESS .or. address .ne. 0)
     &  wrong = wrong + 1
      address = -1
      call PMPI_ADDRESS(MPI_BOTTOM, address, ierror)
      if (ierror .ne. MPI_SUCCESS .or. address .ne. 0)
     &  wrong = wrong + 1

      call MPI_COMM_DUP(MPI_COMM_WORLD, comm, ierror)
      call MPI_ERRHANDLER_CREATE(failed, handler, ierror)
      call MPI_ERRHANDLER_SET(comm, handler, ierror)
      call MPI_ERRHANDLER_GET(comm, found, ierror)
      if (found .ne. handler) wrong = wrong + 1
      call MPI_SEND(rank, 1, MPI_INTEGER, -77, 1, comm, ierror)
      if (ierror .eq. MPI_SUCCESS .or. failures .ne. 1)
     &  wrong = wrong + 1
      call PMPI_ERRHANDLER_SET(comm, MPI_ERRORS_RETURN, ierror)
      call PMPI_ERRHANDLER_GET(comm, found, ierror)
      if (found .ne. MPI_ERRORS_RETURN) wrong = wrong + 1
      call PMPI_ERRHANDLER_CREATE(failed, handler, ierror)
      call MPI_ERRHANDLER_SET(comm, handler, ierror)
      call MPI_SEND(rank, 1, MPI_INTEGER, -77, 1, comm, ierror)
      if (failures .ne. 2) wrong = wrong + 1
      call MPI_COMM_FREE(comm, ierror)

      if (wrong .ne. 0) then
        print *, 'rank', rank, ':', wrong, ' wrong'
        call MPI_ABORT(MPI_COMM_WORLD, 1, ierror)
      end if
      call MPI_FINALIZE(ierror)
      end program removed
