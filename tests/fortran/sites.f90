! SPDX-FileCopyrightText: 2026 the Weft authors
! SPDX-License-Identifier: BSD-3-Clause
! Calls whose lines statistics and weft why are to name (tests/launch/fortran_test.py): by both modules, each call from
! two places, some with arrays that the interface converts. With an argument, rank 0 waits for a message that never comes.
subroutine through_mpi(next, before)
  use mpi
  implicit none
  integer, intent(in) :: next, before
  integer :: requests(2), statuses(MPI_STATUS_SIZE, 2), error, i, from(4), to(4)
  to = 1
  do i = 1, 3
    call MPI_Irecv(from, 4, MPI_INTEGER, before, 1, MPI_COMM_WORLD, requests(1), error) ! irecv of mpi
    call MPI_Isend(to, 4, MPI_INTEGER, next, 1, MPI_COMM_WORLD, requests(2), error) ! isend of mpi
    call MPI_Waitall(2, requests, statuses, error) ! waitall of mpi
  end do
  call MPI_Barrier(MPI_COMM_WORLD, error) ! barrier of mpi
end subroutine

program sites
  use mpi_f08
  implicit none
  integer :: rank, size, next, before, i, from(4), to(4)
  type(MPI_Request) :: requests(2)
  external :: through_mpi
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  next = mod(rank + 1, size)
  before = mod(rank + size - 1, size)
  call through_mpi(next, before)
  to = 2
  do i = 1, 5
    call MPI_Irecv(from, 4, MPI_INTEGER, before, 2, MPI_COMM_WORLD, requests(1)) ! irecv of mpi_f08
    call MPI_Isend(to, 4, MPI_INTEGER, next, 2, MPI_COMM_WORLD, requests(2)) ! isend of mpi_f08
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE) ! waitall of mpi_f08
    call MPI_Allreduce(MPI_IN_PLACE, to, 4, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD) ! allreduce of mpi_f08
  end do
  call MPI_Barrier(MPI_COMM_WORLD) ! first barrier of mpi_f08
  call MPI_Barrier(MPI_COMM_WORLD) ! second barrier of mpi_f08
  if (command_argument_count() > 0 .and. rank == 0) then
    call MPI_Recv(from, 4, MPI_INTEGER, next, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE) ! never
  end if
  call MPI_Finalize()
end program
