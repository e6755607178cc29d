! SPDX-FileCopyrightText: 2026 the Weft authors
! SPDX-License-Identifier: BSD-3-Clause
! Messages through mpi_f08: whole arrays, sections with gaps, no ierror, no status.
program f08
  use mpi_f08
  implicit none
  integer :: rank, ranks, next, last, i, j, count, grid(4, 6), got(4, 6), corner(7)
  type(MPI_Comm) :: ring
  type(MPI_Request) :: request
  type(MPI_Status) :: status
  real(kind(1d0)) :: start

  call MPI_Init()
  start = MPI_Wtime()
  call MPI_Comm_dup(MPI_COMM_WORLD, ring)
  call MPI_Comm_rank(ring, rank)
  call MPI_Comm_size(ring, ranks)
  next = mod(rank + 1, ranks)
  last = mod(rank + ranks - 1, ranks)
  grid = reshape([(100 * rank + i, i = 1, 24)], shape(grid))

  ! Every second element of every third column; the array's order is that of the message.
  call MPI_Isend(grid(1:4:2, 1:6:3), 4, MPI_INTEGER, next, 5, ring, request)
  corner = -1
  call MPI_Recv(corner, 7, MPI_INTEGER, last, 5, ring, status)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  call MPI_Get_count(status, MPI_INTEGER, count)
  call expect(count == 4 .and. status%MPI_SOURCE == last .and. status%MPI_TAG == 5, "the status")
  call expect(all(corner == [100 * last + [1, 3, 13, 15], -1, -1, -1]), "a section that was sent")

  ! A part of a section: three of the eight elements, so the last column stays half untouched.
  got = 0
  call MPI_Irecv(got(2:3, 2:5), 3, MPI_INTEGER, last, 6, ring, request)
  call MPI_Send(grid, 3, MPI_INTEGER, next, 6, ring)
  call MPI_Wait(request, status)
  call expect(got(2, 2) == 100 * last + 1 .and. got(3, 2) == 100 * last + 2 .and. got(2, 3) == 100 * last + 3, "part of a section")
  call expect(sum(got) == 300 * last + 6, "what lies beside it")

  call MPI_Sendrecv(grid(:, 2), 4, MPI_INTEGER, next, 7, got(1, :), 4, MPI_INTEGER, last, 7, ring, MPI_STATUS_IGNORE, i)
  call expect(i == MPI_SUCCESS .and. all(got(1, 1:4) == [(100 * last + 4 + j, j = 1, 4)]), "a column that became a row")

  i = rank
  call MPI_Bcast(i, 1, MPI_INTEGER, ranks - 1, ring)
  call expect(i == ranks - 1, "a scalar")
  call expect(MPI_Wtime() >= start, "the clock")
  call MPI_Comm_free(ring)
  call expect(ring%MPI_VAL == MPI_COMM_NULL%MPI_VAL, "the freed communicator")
  call MPI_Finalize()

contains
  subroutine expect(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what
    if (holds) return
    print *, "rank", rank, ": wrong: ", what
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine expect
end program f08
