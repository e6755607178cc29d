! SPDX-FileCopyrightText: 2026 the Weft authors
! SPDX-License-Identifier: BSD-3-Clause
! mpif.h in the fixed form: messages, constants by address, strings, attributes.
      program mpif_h
      implicit none
      include 'mpif.h'
      integer ierror, rank, ranks, next, before, wrong, i, length
      integer status(MPI_STATUS_SIZE), request, requests(2)
      integer statuses(MPI_STATUS_SIZE, 2), count, total, type, comm
      integer value, info
      integer(MPI_ADDRESS_KIND) limit
      double precision sent(4), got(4)
      logical flag
      character*(MPI_MAX_OBJECT_NAME) name
      character*20 text

      wrong = 0
      call MPI_INIT(ierror)
      if (ierror .ne. MPI_SUCCESS) wrong = wrong + 1
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierror)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, ranks, ierror)
      next = mod(rank + 1, ranks)
      before = mod(rank + ranks - 1, ranks)

!     A ring, blocking and not.
      do i = 1, 4
        sent(i) = 10 * rank + i
        got(i) = -1
      end do
      call MPI_SENDRECV(sent, 4, MPI_DOUBLE_PRECISION, next, 7, got,
     &  4, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, MPI_ANY_TAG,
     &  MPI_COMM_WORLD, status, ierror)
      do i = 1, 4
        if (got(i) .ne. 10 * before + i) wrong = wrong + 1
      end do
      if (status(MPI_SOURCE) .ne. before) wrong = wrong + 1
      if (status(MPI_TAG) .ne. 7) wrong = wrong + 1
      call MPI_GET_COUNT(status, MPI_DOUBLE_PRECISION, count, ierror)
      if (count .ne. 4) wrong = wrong + 1
      value = -1
      call MPI_IRECV(value, 1, MPI_INTEGER, before, 8,
     &  MPI_COMM_WORLD, requests(1), ierror)
      call MPI_ISEND(rank, 1, MPI_INTEGER, next, 8,
     &  MPI_COMM_WORLD, requests(2), ierror)
      call MPI_WAITALL(2, requests, statuses, ierror)
      if (value .ne. before) wrong = wrong + 1
      if (statuses(MPI_SOURCE, 1) .ne. before) wrong = wrong + 1
      if (requests(1) .ne. MPI_REQUEST_NULL) wrong = wrong + 1

!     Indices count from 1.
      requests(1) = MPI_REQUEST_NULL
      call MPI_IRECV(value, 0, MPI_INTEGER, MPI_PROC_NULL, 0,
     &  MPI_COMM_WORLD, requests(2), ierror)
      call MPI_WAITANY(2, requests, i, MPI_STATUS_IGNORE, ierror)
      if (i .ne. 2) wrong = wrong + 1
      call MPI_WAITANY(2, requests, i, MPI_STATUS_IGNORE, ierror)
      if (i .ne. MPI_UNDEFINED) wrong = wrong + 1

!     MPI_IN_PLACE and MPI_BOTTOM.
      total = rank + 1
      call MPI_ALLREDUCE(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM,
     &  MPI_COMM_WORLD, ierror)
      if (total .ne. ranks * (ranks + 1) / 2) wrong = wrong + 1
      value = -1
      if (rank .eq. 0) value = 42
      call MPI_GET_ADDRESS(value, limit, ierror)
      call MPI_TYPE_CREATE_HINDEXED(1, (/1/), (/limit/), MPI_INTEGER,
     &  type, ierror)
      call MPI_TYPE_COMMIT(type, ierror)
      call MPI_BCAST(MPI_BOTTOM, 1, type, 0, MPI_COMM_WORLD, ierror)
      call MPI_F_SYNC_REG(value)
      if (value .ne. 42) wrong = wrong + 1
      call MPI_TYPE_FREE(type, ierror)
      if (type .ne. MPI_DATATYPE_NULL) wrong = wrong + 1

!     Strings have blanks at the end in both directions.
      call MPI_COMM_DUP(MPI_COMM_WORLD, comm, ierror)
      call MPI_COMM_SET_NAME(comm, 'a name   ', ierror)
      name = 'x'
      call MPI_COMM_GET_NAME(comm, name, length, ierror)
      if (name .ne. 'a name' .or. length .ne. 6) wrong = wrong + 1
      call MPI_COMM_FREE(comm, ierror)
      call MPI_INFO_CREATE(info, ierror)
      call MPI_INFO_SET(info, ' key ', ' value ', ierror)
      text = 'untouched'
      call MPI_INFO_GET(info, 'none', 20, text, flag, ierror)
      if (flag .or. text .ne. 'untouched') wrong = wrong + 1
      call MPI_INFO_GET(info, 'key', 20, text, flag, ierror)
      if (.not. flag .or. text .ne. 'value') wrong = wrong + 1
      length = 3
      call MPI_INFO_GET_STRING(info, 'key', length, text, flag, ierror)
      if (length .ne. 5 .or. text .ne. 'val') wrong = wrong + 1
      call MPI_INFO_FREE(info, ierror)

!     Predefined attributes are values.
      call MPI_COMM_GET_ATTR(MPI_COMM_WORLD, MPI_TAG_UB, limit, flag,
     &  ierror)
      if (.not. flag .or. limit .lt. 32767) wrong = wrong + 1
      if (MPI_WTIME() .le. 0) wrong = wrong + 1
      if (MPI_SUBARRAYS_SUPPORTED) wrong = wrong + 1

      if (wrong .ne. 0) then
        print *, 'rank', rank, ':', wrong, 'wrong'
        call MPI_ABORT(MPI_COMM_WORLD, 1, ierror)
      end if
      request = MPI_REQUEST_NULL
      call MPI_WAIT(request, MPI_STATUS_IGNORE, ierror)
      call MPI_FINALIZE(ierror)
      end program
