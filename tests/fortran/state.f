! SPDX-FileCopyrightText: 2026 the Weft authors
! SPDX-License-Identifier: BSD-3-Clause
! Programs for MPICH find in the state of a generalized request what its functions have stored there.
      subroutine ask(state, status, ierror)
      implicit none
      include 'mpif.h'
      integer(MPI_ADDRESS_KIND) state
      integer status(MPI_STATUS_SIZE), ierror
      call MPI_STATUS_SET_ELEMENTS(status, MPI_INTEGER, 1, ierror)
      call MPI_STATUS_SET_CANCELLED(status, .false., ierror)
      status(MPI_SOURCE) = MPI_UNDEFINED
      status(MPI_TAG) = MPI_UNDEFINED
      state = state + 10
      end subroutine ask

      subroutine release(state, ierror)
      implicit none
      include 'mpif.h'
      integer(MPI_ADDRESS_KIND) state
      integer ierror
      state = state + 100
      ierror = MPI_SUCCESS
      end subroutine release

      subroutine stop_it(state, complete, ierror)
      implicit none
      include 'mpif.h'
      integer(MPI_ADDRESS_KIND) state
      logical complete
      integer ierror
      state = state + 1000
      if (complete) state = -1
      ierror = MPI_SUCCESS
      end subroutine stop_it

      subroutine expect(state, wanted)
      implicit none
      include 'mpif.h'
      integer(MPI_ADDRESS_KIND) state, wanted
      integer ierror
      if (state .eq. wanted) return
      print *, 'the state is', state, 'instead of', wanted
      call MPI_ABORT(MPI_COMM_WORLD, 1, ierror)
      end subroutine expect

      program state_of_request
      implicit none
      include 'mpif.h'
      external ask, release, stop_it
      integer(MPI_ADDRESS_KIND) state
      integer ierror, request
!     So that calls may change it, for the compiler.
      common /shared/ state
      call MPI_INIT(ierror)
      state = 1
      call MPI_GREQUEST_START(ask, release, stop_it, state, request,
     &                        ierror)
      call MPI_CANCEL(request, ierror)
      call expect(state, 1001_MPI_ADDRESS_KIND)
      call MPI_GREQUEST_COMPLETE(request, ierror)
      call MPI_WAIT(request, MPI_STATUS_IGNORE, ierror)
      call expect(state, 1111_MPI_ADDRESS_KIND)
      call MPI_FINALIZE(ierror)
      end program state_of_request
