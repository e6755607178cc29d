! SPDX-FileCopyrightText: 2026 the Weft authors
! SPDX-License-Identifier: BSD-3-Clause
! Collective operations through mpi_f08 in their three forms, on sections with gaps; forms with counts and with datatypes.
module forms
  use mpi_f08
  use, intrinsic :: iso_c_binding, only: c_f_pointer, c_ptr
  implicit none
  integer, parameter :: blocking = 1, nonblocking = 2, persistent = 3

contains

  ! Completes what a call in `form` has begun; a persistent operation runs `times` times.
  subroutine complete(form, request, last)
    integer, intent(in) :: form
    type(MPI_Request), intent(inout) :: request
    logical, intent(in) :: last
    if (form == blocking) return
    if (form == persistent) call MPI_Start(request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    if (form == persistent .and. last) call MPI_Request_free(request)
  end subroutine complete

  subroutine largest(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer(MPI_COUNT_KIND) :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: in(:), inout(:)
    call c_f_pointer(invec, in, [len])
    call c_f_pointer(inoutvec, inout, [len])
    inout = max(in, inout)
    if (datatype /= MPI_INTEGER) inout = -1
  end subroutine largest
end module forms

program f08_collectives
  use mpi_f08
  use forms
  implicit none
  integer :: rank, ranks, wrong = 0, form
  type(MPI_Comm) :: comm
  character(12) :: named(3) = [character(12) :: "blocking", "nonblocking", "persistent"]
  call MPI_Init()
  call MPI_Comm_dup(MPI_COMM_WORLD, comm)
  call MPI_Comm_rank(comm, rank)
  call MPI_Comm_size(comm, ranks)
  do form = blocking, persistent
    call one_to_all
    call all_to_all
    call with_counts
    call with_datatypes
    call reductions
    call scans
    call neighbours
  end do
  call again
  call in_place
  call operation_of_large_counts
  call local
  call MPI_Comm_free(comm)
  if (wrong /= 0) call MPI_Abort(MPI_COMM_WORLD, 1)
  call MPI_Finalize()

contains

  include "expect.inc"

  subroutine check(right, what)
    logical, intent(in) :: right
    character(len=*), intent(in) :: what
    call expect(right, what // ", " // named(form))
  end subroutine check

  subroutine one_to_all
    integer, asynchronous :: data(6), every(2, 2 * ranks), mine(4)
    integer :: i
    type(MPI_Request) :: request
    select case (form)
    case (blocking)
      call MPI_Barrier(comm)
    case (nonblocking)
      call MPI_Ibarrier(comm, request)
    case (persistent)
      call MPI_Barrier_init(comm, MPI_INFO_NULL, request)
    end select
    call complete(form, request, .true.)

    data = -1
    if (rank == ranks - 1) data(2:6:2) = [5, 6, 7]
    select case (form)
    case (blocking)
      call MPI_Bcast(data(2:6:2), 3, MPI_INTEGER, ranks - 1, comm)
    case (nonblocking)
      call MPI_Ibcast(data(2:6:2), 3_MPI_COUNT_KIND, MPI_INTEGER, ranks - 1, comm, request)
    case (persistent)
      call MPI_Bcast_init(data(2:6:2), 3, MPI_INTEGER, ranks - 1, comm, MPI_INFO_NULL, request)
    end select
    call complete(form, request, .true.)
    call check(all_equal(data, [-1, 5, -1, 6, -1, 7]), "MPI_Bcast of a section")

    every = -1
    mine = [10 * rank + 1, 0, 10 * rank + 2, 0]
    select case (form)
    case (blocking)
      call MPI_Gather(mine(1:3:2), 2, MPI_INTEGER, every(1, :), 2, MPI_INTEGER, 0, comm)
    case (nonblocking)
      call MPI_Igather(mine(1:3:2), 2, MPI_INTEGER, every(1, :), 2, MPI_INTEGER, 0, comm, request)
    case (persistent)
      call MPI_Gather_init(mine(1:3:2), 2, MPI_INTEGER, every(1, :), 2, MPI_INTEGER, 0, comm, MPI_INFO_NULL, request)
    end select
    call complete(form, request, .true.)
    call check(all(every(2, :) == -1), "what lies beside the row of MPI_Gather")
    if (rank == 0) call check(all_equal(every(1, :), [(10 * ((i - 1) / 2) + 2 - mod(i, 2), i = 1, 2 * ranks)]), "MPI_Gather")

    mine = -1
    every(2, :) = [(10 * ((i - 1) / 2) + 4 - mod(i, 2), i = 1, 2 * ranks)]
    select case (form)
    case (blocking)
      call MPI_Scatter(every(2, :), 2, MPI_INTEGER, mine(4:3:-1), 2, MPI_INTEGER, 0, comm)
    case (nonblocking)
      call MPI_Iscatter(every(2, :), 2_MPI_COUNT_KIND, MPI_INTEGER, mine(4:3:-1), 2_MPI_COUNT_KIND, MPI_INTEGER, 0, comm, request)
    case (persistent)
      call MPI_Scatter_init(every(2, :), 2, MPI_INTEGER, mine(4:3:-1), 2, MPI_INTEGER, 0, comm, MPI_INFO_NULL, request)
    end select
    call complete(form, request, .true.)
    call check(all_equal(mine, [-1, -1, 10 * rank + 4, 10 * rank + 3]), "MPI_Scatter of a row")
  end subroutine one_to_all

  logical function all_equal(a, b)
    integer, intent(in) :: a(:), b(:)
    all_equal = size(a) == size(b)
    if (all_equal) all_equal = all(a == b)
  end function all_equal

  subroutine all_to_all
    integer, asynchronous :: from(3, ranks), into(2, ranks)
    integer :: i
    type(MPI_Request) :: request
    into = -1
    from = rank
    select case (form)
    case (blocking)
      call MPI_Allgather(from(2, 1), 1, MPI_INTEGER, into(1, :), 1, MPI_INTEGER, comm)
    case (nonblocking)
      call MPI_Iallgather(from(2, 1), 1, MPI_INTEGER, into(1, :), 1, MPI_INTEGER, comm, request)
    case (persistent)
      call MPI_Allgather_init(from(2, 1), 1, MPI_INTEGER, into(1, :), 1, MPI_INTEGER, comm, MPI_INFO_NULL, request)
    end select
    call complete(form, request, .true.)
    call check(all_equal(into(1, :), [(i, i = 0, ranks - 1)]) .and. all(into(2, :) == -1), "MPI_Allgather into a row")

    from(3, :) = [(100 * rank + i, i = 0, ranks - 1)]
    select case (form)
    case (blocking)
      call MPI_Alltoall(from(3, :), 1, MPI_INTEGER, into(2, :), 1, MPI_INTEGER, comm)
    case (nonblocking)
      call MPI_Ialltoall(from(3, :), 1, MPI_INTEGER, into(2, :), 1, MPI_INTEGER, comm, request)
    case (persistent)
      call MPI_Alltoall_init(from(3, :), 1_MPI_COUNT_KIND, MPI_INTEGER, into(2, :), 1_MPI_COUNT_KIND, MPI_INTEGER, comm, &
                             MPI_INFO_NULL, request)
    end select
    call complete(form, request, .true.)
    call check(all_equal(into(2, :), [(100 * i + rank, i = 0, ranks - 1)]) .and. all(into(1, :) /= -1), "MPI_Alltoall of rows")
  end subroutine all_to_all

  ! Rank r gives r + 1 elements.
  subroutine with_counts
    integer :: counts(ranks), places(ranks), total, i, k
    integer, asynchronous :: mine(2 * ranks), every(2, ranks * (ranks + 1) / 2)
    integer :: expected(ranks * (ranks + 1) / 2)
    integer(MPI_COUNT_KIND) :: large(ranks)
    integer(MPI_ADDRESS_KIND) :: far(ranks)
    type(MPI_Request) :: request
    total = ranks * (ranks + 1) / 2
    counts = [(i, i = 1, ranks)]
    ! The last rank's elements come first.
    places = [(total - i * (i + 1) / 2, i = 1, ranks)]
    large = counts
    far = places
    do i = 1, ranks
      expected(places(i) + 1:places(i) + i) = [(10 * i + k, k = 1, i)]
    end do
    mine = 0
    mine(1:2 * rank + 1:2) = [(10 * (rank + 1) + k, k = 1, rank + 1)]
    every = -1
    select case (form)
    case (blocking)
      call MPI_Gatherv(mine(1:2 * ranks:2), rank + 1, MPI_INTEGER, every(1, :), counts, places, MPI_INTEGER, 0, comm)
      call MPI_Allgatherv(mine(1:2 * ranks:2), int(rank + 1, MPI_COUNT_KIND), MPI_INTEGER, every(2, :), large, far, MPI_INTEGER, &
                          comm)
    case (nonblocking)
      call MPI_Igatherv(mine(1:2 * ranks:2), rank + 1, MPI_INTEGER, every(1, :), counts, places, MPI_INTEGER, 0, comm, request)
      call complete(form, request, .true.)
      call MPI_Iallgatherv(mine(1:2 * ranks:2), rank + 1, MPI_INTEGER, every(2, :), counts, places, MPI_INTEGER, comm, request)
    case (persistent)
      call MPI_Gatherv_init(mine(1:2 * ranks:2), rank + 1, MPI_INTEGER, every(1, :), counts, places, MPI_INTEGER, 0, comm, &
                            MPI_INFO_NULL, request)
      call complete(form, request, .true.)
      call MPI_Allgatherv_init(mine(1:2 * ranks:2), rank + 1, MPI_INTEGER, every(2, :), counts, places, MPI_INTEGER, comm, &
                               MPI_INFO_NULL, request)
    end select
    call complete(form, request, .true.)
    call check(all_equal(every(2, :), expected), "MPI_Allgatherv into a row")
    call check(rank /= 0 .or. all_equal(every(1, :), expected), "MPI_Gatherv into a row")

    mine = -1
    every(1, :) = expected
    select case (form)
    case (blocking)
      call MPI_Scatterv(every(1, :), counts, places, MPI_INTEGER, mine(2:2 * ranks:2), rank + 1, MPI_INTEGER, 0, comm)
    case (nonblocking)
      call MPI_Iscatterv(every(1, :), large, far, MPI_INTEGER, mine(2:2 * ranks:2), int(rank + 1, MPI_COUNT_KIND), MPI_INTEGER, 0, &
                         comm, request)
    case (persistent)
      call MPI_Scatterv_init(every(1, :), counts, places, MPI_INTEGER, mine(2:2 * ranks:2), rank + 1, MPI_INTEGER, 0, comm, &
                             MPI_INFO_NULL, request)
    end select
    call complete(form, request, .true.)
    call check(all_equal(mine(2:2 * rank + 2:2), [(10 * (rank + 1) + k, k = 1, rank + 1)]) .and. all(mine(1:2 * ranks:2) == -1), &
               "MPI_Scatterv of a row")

    block
      integer, asynchronous :: from(2, ranks), into(3, ranks)
      integer :: ones(ranks), back(ranks)
      ones = 1
      back = [(ranks - i, i = 1, ranks)]
      from(1, :) = [(100 * rank + i, i = 1, ranks)]
      into = -1
      select case (form)
      case (blocking)
        call MPI_Alltoallv(from(1, :), ones, back, MPI_INTEGER, into(2, :), ones, back, MPI_INTEGER, comm)
      case (nonblocking)
        call MPI_Ialltoallv(from(1, :), ones, back, MPI_INTEGER, into(2, :), ones, back, MPI_INTEGER, comm, request)
      case (persistent)
        call MPI_Alltoallv_init(from(1, :), ones, back, MPI_INTEGER, into(2, :), ones, back, MPI_INTEGER, comm, MPI_INFO_NULL, &
                                request)
      end select
      call complete(form, request, .true.)
      call check(all_equal(into(2, ranks:1:-1), [(100 * (i - 1) + ranks - rank, i = 1, ranks)]) .and. all(into(1:3:2, :) == -1), &
                 "MPI_Alltoallv of rows")
    end block
  end subroutine with_counts

  subroutine with_datatypes
    integer, asynchronous :: from(2, ranks), into(2, ranks)
    integer :: ones(ranks), bytes(ranks), i
    integer(MPI_COUNT_KIND) :: large(ranks)
    integer(MPI_ADDRESS_KIND) :: far(ranks)
    type(MPI_Datatype) :: types(ranks)
    type(MPI_Request) :: request
    ones = 1
    large = 1
    bytes = [(4 * (i - 1), i = 1, ranks)]
    far = bytes
    types = MPI_INTEGER
    from(2, :) = [(100 * rank + i, i = 0, ranks - 1)]
    into = -1
    select case (form)
    case (blocking)
      call MPI_Alltoallw(from(2, :), ones, bytes, types, into(1, :), ones, bytes, types, comm)
    case (nonblocking)
      call MPI_Ialltoallw(from(2, :), large, far, types, into(1, :), large, far, types, comm, request)
    case (persistent)
      call MPI_Alltoallw_init(from(2, :), ones, bytes, types, into(1, :), ones, bytes, types, comm, MPI_INFO_NULL, request)
    end select
    call complete(form, request, .true.)
    call check(all_equal(into(1, :), [(100 * i + rank, i = 0, ranks - 1)]) .and. all(into(2, :) == -1), "MPI_Alltoallw of rows")
  end subroutine with_datatypes

  subroutine reductions
    integer, asynchronous :: from(6), into(6), blocks(2, ranks)
    integer :: ones(ranks), total
    type(MPI_Request) :: request
    total = ranks * (ranks - 1) / 2
    from = [1, 0, 2, 0, 3, 0] * (rank + 1)
    into = -1
    select case (form)
    case (blocking)
      call MPI_Reduce(from(1:6:2), into(2:6:2), 3, MPI_INTEGER, MPI_SUM, 0, comm)
    case (nonblocking)
      call MPI_Ireduce(from(1:6:2), into(2:6:2), 3, MPI_INTEGER, MPI_SUM, 0, comm, request)
    case (persistent)
      call MPI_Reduce_init(from(1:6:2), into(2:6:2), 3, MPI_INTEGER, MPI_SUM, 0, comm, MPI_INFO_NULL, request)
    end select
    call complete(form, request, .true.)
    call check(all(into(1:6:2) == -1) .and. (rank /= 0 .or. all_equal(into(2:6:2), (total + ranks) * [1, 2, 3])), &
               "MPI_Reduce of sections")
    into = -1
    select case (form)
    case (blocking)
      call MPI_Allreduce(from(1:6:2), into(1:3), 3_MPI_COUNT_KIND, MPI_INTEGER, MPI_MAX, comm)
    case (nonblocking)
      call MPI_Iallreduce(from(1:6:2), into(1:3), 3_MPI_COUNT_KIND, MPI_INTEGER, MPI_MAX, comm, request)
    case (persistent)
      call MPI_Allreduce_init(from(1:6:2), into(1:3), 3, MPI_INTEGER, MPI_MAX, comm, MPI_INFO_NULL, request)
    end select
    call complete(form, request, .true.)
    call check(all_equal(into, [ranks, 2 * ranks, 3 * ranks, -1, -1, -1]), "MPI_Allreduce of a section")

    blocks = rank
    ones = 1
    into = -1
    select case (form)
    case (blocking)
      call MPI_Reduce_scatter(blocks(1, :), into(3), ones, MPI_INTEGER, MPI_SUM, comm)
      call MPI_Reduce_scatter_block(blocks(2, :), into(4), 1, MPI_INTEGER, MPI_SUM, comm)
    case (nonblocking)
      call MPI_Ireduce_scatter(blocks(1, :), into(3), ones, MPI_INTEGER, MPI_SUM, comm, request)
      call complete(form, request, .true.)
      call MPI_Ireduce_scatter_block(blocks(2, :), into(4), 1, MPI_INTEGER, MPI_SUM, comm, request)
    case (persistent)
      call MPI_Reduce_scatter_init(blocks(1, :), into(3), ones, MPI_INTEGER, MPI_SUM, comm, MPI_INFO_NULL, request)
      call complete(form, request, .true.)
      call MPI_Reduce_scatter_block_init(blocks(2, :), into(4), 1, MPI_INTEGER, MPI_SUM, comm, MPI_INFO_NULL, request)
    end select
    call complete(form, request, .true.)
    call check(all_equal(into, [-1, -1, total, total, -1, -1]), "MPI_Reduce_scatter of a row")
  end subroutine reductions

  subroutine scans
    integer, asynchronous :: from(4), into(4)
    type(MPI_Request) :: request
    from = rank + 1
    into = 0
    select case (form)
    case (blocking)
      call MPI_Scan(from(1:4:2), into(1:4:2), 2, MPI_INTEGER, MPI_SUM, comm)
      call MPI_Exscan(from(2:4:2), into(2:4:2), 2, MPI_INTEGER, MPI_SUM, comm)
    case (nonblocking)
      call MPI_Iscan(from(1:4:2), into(1:4:2), 2, MPI_INTEGER, MPI_SUM, comm, request)
      call complete(form, request, .true.)
      call MPI_Iexscan(from(2:4:2), into(2:4:2), 2, MPI_INTEGER, MPI_SUM, comm, request)
    case (persistent)
      call MPI_Scan_init(from(1:4:2), into(1:4:2), 2, MPI_INTEGER, MPI_SUM, comm, MPI_INFO_NULL, request)
      call complete(form, request, .true.)
      call MPI_Exscan_init(from(2:4:2), into(2:4:2), 2, MPI_INTEGER, MPI_SUM, comm, MPI_INFO_NULL, request)
    end select
    call complete(form, request, .true.)
    call check(all(into(1:4:2) == (rank + 1) * (rank + 2) / 2) .and. all(into(2:4:2) == rank * (rank + 1) / 2), &
               "MPI_Scan and MPI_Exscan of sections")
  end subroutine scans

  ! A ring: the neighbours are the rank before and the one behind.
  subroutine neighbours
    type(MPI_Comm) :: ring
    type(MPI_Request) :: request
    integer, asynchronous :: from(2, 2), into(3, 2)
    integer :: before, behind, ones(2), places(2)
    integer(MPI_ADDRESS_KIND) :: bytes(2)
    type(MPI_Datatype) :: types(2)
    call MPI_Cart_create(comm, 1, [ranks], [.true.], .false., ring)
    call MPI_Cart_shift(ring, 0, 1, before, behind)
    from(1, :) = 10 * rank + [1, 2]
    into = -1
    ones = 1
    places = [1, 0]
    bytes = [4, 0]
    types = MPI_INTEGER
    select case (form)
    case (blocking)
      call MPI_Neighbor_allgather(from(1, 1), 1, MPI_INTEGER, into(1, :), 1, MPI_INTEGER, ring)
      call MPI_Neighbor_alltoall(from(1, :), 1, MPI_INTEGER, into(2, :), 1, MPI_INTEGER, ring)
      call MPI_Neighbor_alltoallw(from(1, :), ones, bytes, types, into(3, :), ones, bytes, types, ring)
    case (nonblocking)
      call MPI_Ineighbor_allgatherv(from(1, 1), 1, MPI_INTEGER, into(1, :), ones, [0, 1], MPI_INTEGER, ring, request)
      call complete(form, request, .true.)
      call MPI_Ineighbor_alltoallv(from(1, :), ones, [0, 1], MPI_INTEGER, into(2, :), ones, [0, 1], MPI_INTEGER, ring, request)
      call complete(form, request, .true.)
      call MPI_Ineighbor_alltoallw(from(1, :), ones, bytes, types, into(3, :), ones, bytes, types, ring, request)
    case (persistent)
      call MPI_Neighbor_allgather_init(from(1, 1), 1, MPI_INTEGER, into(1, :), 1, MPI_INTEGER, ring, MPI_INFO_NULL, request)
      call complete(form, request, .true.)
      call MPI_Neighbor_alltoall_init(from(1, :), 1, MPI_INTEGER, into(2, :), 1, MPI_INTEGER, ring, MPI_INFO_NULL, request)
      call complete(form, request, .true.)
      call MPI_Neighbor_alltoallw_init(from(1, :), ones, bytes, types, into(3, :), ones, bytes, types, ring, MPI_INFO_NULL, request)
    end select
    call complete(form, request, .true.)
    call check(all_equal(into(1, :), 10 * [before, behind] + 1), "MPI_Neighbor_allgather into a row")
    call check(all_equal(into(2, :), 10 * [before, behind] + [2, 1]), "MPI_Neighbor_alltoall of rows")
    call check(all_equal(into(3, :), 10 * [behind, before] + [2, 1]), "MPI_Neighbor_alltoallw of rows")
    call MPI_Comm_free(ring)
  end subroutine neighbours

  ! Each start of a persistent operation takes what the section holds then, and each completion stores to it.
  subroutine again
    integer, asynchronous :: from(6), into(6)
    type(MPI_Request) :: request
    integer :: round
    into = -1
    form = persistent
    call MPI_Allreduce_init(from(1:6:2), into(2:6:2), 3, MPI_INTEGER, MPI_SUM, comm, MPI_INFO_NULL, request)
    do round = 1, 3
      from = round * [1, 9, 2, 9, 3, 9]
      call complete(form, request, round == 3)
      call expect(all_equal(into, ranks * round * [0, 1, 0, 2, 0, 3] - [1, 0, 1, 0, 1, 0]), "a persistent sum of sections")
    end do
  end subroutine again

  subroutine in_place
    integer, asynchronous :: values(4), rows(2, ranks)
    integer :: i
    type(MPI_Request) :: request
    values = rank
    call MPI_Allreduce(MPI_IN_PLACE, values(1:4:3), 2, MPI_INTEGER, MPI_SUM, comm)
    call expect(all_equal(values, [ranks * (ranks - 1) / 2, rank, rank, ranks * (ranks - 1) / 2]), "MPI_IN_PLACE and a section")
    rows = -1
    rows(1, rank + 1) = 5 + rank
    call MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, rows(1, :), 1, MPI_INTEGER, comm, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call expect(all_equal(rows(1, :), [(5 + i, i = 0, ranks - 1)]) .and. all(rows(2, :) == -1), "MPI_IN_PLACE and a row")
  end subroutine in_place

  subroutine local
    integer :: from(4), into(4)
    from = [1, 2, 3, 4]
    into = 10
    call MPI_Reduce_local(from(1:4:2), into(4:1:-2), 2, MPI_INTEGER, MPI_SUM)
    call expect(all_equal(into, [10, 13, 10, 11]), "MPI_Reduce_local of sections")
  end subroutine local

  subroutine operation_of_large_counts
    type(MPI_Op) :: op
    integer :: values(4)
    call MPI_Op_create_c(largest, .true., op)
    values = [rank, 0, -rank, 0]
    call MPI_Allreduce(MPI_IN_PLACE, values(1:4:2), 2_MPI_COUNT_KIND, MPI_INTEGER, op, comm)
    call expect(all(values == [ranks - 1, 0, 0, 0]), "MPI_Op_create_c")
    call MPI_Op_free(op)
  end subroutine operation_of_large_counts
end program f08_collectives
