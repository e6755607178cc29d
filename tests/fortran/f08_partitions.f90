! SPDX-FileCopyrightText: 2026 the Weft authors
! SPDX-License-Identifier: BSD-3-Clause
! Partitioned messages through mpi_f08, with a count of each kind.
program f08_partitions
  use mpi_f08
  implicit none
  integer :: rank, ranks, next, last, wrong = 0
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  next = mod(rank + 1, ranks)
  last = mod(rank + ranks - 1, ranks)
  call partitions
  if (wrong /= 0) call MPI_Abort(MPI_COMM_WORLD, 1)
  call MPI_Finalize()

contains

  include "expect.inc"

  ! Partitions of two elements in a section of every second one.
  subroutine partitions
    integer, asynchronous :: from(16), into(8)
    integer :: i
    type(MPI_Request) :: requests(2)
    logical :: flag
    from = -1
    call MPI_Psend_init(from(2:16:2), 4, 2, MPI_INTEGER, next, 70, MPI_COMM_WORLD, MPI_INFO_NULL, requests(1))
    call MPI_Precv_init(into, 2, 4_MPI_COUNT_KIND, MPI_INTEGER, last, 70, MPI_COMM_WORLD, MPI_INFO_NULL, requests(2))
    call MPI_Startall(2, requests)
    from(2:16:2) = [(10 * rank + i, i = 1, 8)]
    call MPI_Pready(3, requests(1))
    call MPI_Pready_range(0, 1, requests(1))
    call MPI_Pready_list(1, [2], requests(1))
    flag = .false.
    do while (.not. flag)
      call MPI_Parrived(requests(2), 1, flag)
    end do
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    call expect(all(into == [(10 * last + i, i = 1, 8)]), "partitions of a section")
    call MPI_Request_free(requests(1))
    call MPI_Request_free(requests(2))
  end subroutine partitions

end program f08_partitions
