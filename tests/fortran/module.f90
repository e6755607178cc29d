! SPDX-FileCopyrightText: 2026 the Weft authors
! SPDX-License-Identifier: BSD-3-Clause
! The module mpi: sections of arrays, memory by C_PTR, datatypes, topologies, windows, errors.
program module
  use, intrinsic :: iso_c_binding
  use mpi
  implicit none
  integer :: ierror, rank, ranks, wrong, provided
  wrong = 0
  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided, ierror)
  call expect(ierror == MPI_SUCCESS .and. provided >= MPI_THREAD_FUNNELED, "MPI_Init_thread")
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  call sections
  call memory
  call types
  call exchange
  call topologies
  call windows
  call errors
  if (wrong /= 0) call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
  call MPI_Finalize(ierror)

contains

  include "expect.inc"

  ! Blocking calls take sections by copies of the compiler.
  subroutine sections
    real :: matrix(4, 4), row(4)
    integer :: i
    matrix = 0
    if (rank == 0) matrix(2, :) = [1.0, 2.0, 3.0, 4.0]
    call MPI_Bcast(matrix(2, :), 4, MPI_REAL, 0, MPI_COMM_WORLD, ierror)
    call expect(all(matrix(2, :) == [(real(i), i = 1, 4)]) .and. sum(matrix) == 10.0, "a row of a matrix")
    row = rank
    call MPI_Allreduce(MPI_IN_PLACE, row, 4, MPI_REAL, MPI_MAX, MPI_COMM_WORLD, ierror)
    call expect(all(row == ranks - 1), "MPI_IN_PLACE")
  end subroutine sections

  subroutine memory
    type(c_ptr) :: base
    integer, pointer :: numbers(:)
    call MPI_Alloc_mem(4000_MPI_ADDRESS_KIND, MPI_INFO_NULL, base, ierror)
    call c_f_pointer(base, numbers, [1000])
    numbers = rank
    call MPI_Bcast(numbers, 1000, MPI_INTEGER, ranks - 1, MPI_COMM_WORLD, ierror)
    call expect(all(numbers == ranks - 1), "memory of MPI_Alloc_mem")
    call MPI_Free_mem(numbers, ierror)
    call expect(ierror == MPI_SUCCESS, "MPI_Free_mem")
  end subroutine memory

  subroutine types
    integer :: made, bytes
    integer(MPI_ADDRESS_KIND) :: lb, extent
    call MPI_Type_create_struct(2, [1, 2], [0_MPI_ADDRESS_KIND, 8_MPI_ADDRESS_KIND], [MPI_INTEGER, MPI_DOUBLE_PRECISION], &
                                made, ierror)
    call MPI_Type_commit(made, ierror)
    call MPI_Type_size(made, bytes, ierror)
    call MPI_Type_get_extent(made, lb, extent, ierror)
    call expect(bytes == 20 .and. lb == 0 .and. extent == 24, "MPI_Type_create_struct")
    call MPI_Type_free(made, ierror)
    call MPI_Type_create_f90_real(15, 307, made, ierror)
    call MPI_Type_size(made, bytes, ierror)
    call expect(bytes == 8, "MPI_Type_create_f90_real")
  end subroutine types

  subroutine exchange
    integer :: sent(ranks), got(ranks), one(ranks), place(ranks), kind(ranks), request, i
    sent = [(100 * rank + i, i = 1, ranks)]
    one = 1
    place = [(4 * (i - 1), i = 1, ranks)]
    kind = MPI_INTEGER
    got = 0
    call MPI_Alltoallw(sent, one, place, kind, got, one, place, kind, MPI_COMM_WORLD, ierror)
    call expect(all(got == [(100 * (i - 1) + rank + 1, i = 1, ranks)]), "MPI_Alltoallw")
    got = 0
    call MPI_Ialltoallw(sent, one, place, kind, got, one, place, kind, MPI_COMM_WORLD, request, ierror)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    call MPI_F_sync_reg(got)
    call expect(all(got == [(100 * (i - 1) + rank + 1, i = 1, ranks)]), "MPI_Ialltoallw")
  end subroutine exchange

  subroutine topologies
    integer :: cart, graph, coords(1), dims(1), in, out, outside, inside
    logical :: periods(1), weighted
    call MPI_Cart_create(MPI_COMM_WORLD, 1, [ranks], [.true.], .false., cart, ierror)
    periods = .false.
    call MPI_Cart_get(cart, 1, dims, periods, coords, ierror)
    call expect(periods(1) .and. dims(1) == ranks .and. coords(1) == rank, "MPI_Cart_get")
    call MPI_Cart_shift(cart, 0, 1, in, out, ierror)
    call expect(out == mod(rank + 1, ranks), "MPI_Cart_shift")
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [in], MPI_UNWEIGHTED, 1, [out], MPI_UNWEIGHTED, MPI_INFO_NULL, &
                                        .false., graph, ierror)
    call MPI_Dist_graph_neighbors_count(graph, inside, outside, weighted, ierror)
    call expect(inside == 1 .and. outside == 1 .and. .not. weighted, "MPI_UNWEIGHTED")
    call MPI_Comm_free(graph, ierror)
    call MPI_Comm_free(cart, ierror)
  end subroutine topologies

  subroutine windows
    integer :: win, number, got
    integer(MPI_ADDRESS_KIND) :: bytes
    logical :: flag
    number = 7 * rank
    call MPI_Win_create(number, 4_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierror)
    call MPI_Win_get_attr(win, MPI_WIN_SIZE, bytes, flag, ierror)
    call expect(flag .and. bytes == 4, "MPI_WIN_SIZE")
    got = -1
    call MPI_Win_fence(0, win, ierror)
    call MPI_Get(got, 1, MPI_INTEGER, mod(rank + 1, ranks), 0_MPI_ADDRESS_KIND, 1, MPI_INTEGER, win, ierror)
    call MPI_Win_fence(0, win, ierror)
    call MPI_F_sync_reg(got)
    call expect(got == 7 * mod(rank + 1, ranks), "MPI_Get")
    call MPI_Win_free(win, ierror)
    call expect(win == MPI_WIN_NULL, "MPI_Win_free")
  end subroutine windows

  subroutine errors
    integer :: class, length, comm
    character(len=MPI_MAX_ERROR_STRING) :: text
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierror)
    call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN, ierror)
    call MPI_Send(rank, 1, MPI_INTEGER, ranks, 0, comm, ierror)
    call MPI_Error_class(ierror, class, length)
    call expect(class == MPI_ERR_RANK, "a rank that is not there")
    call MPI_Error_string(ierror, text, length, class)
    call expect(length > 0 .and. len_trim(text) == length, "MPI_Error_string")
    call expect(index(text, "MPI_ERR_RANK: ") == 1 .and. index(text, "MPI_Send: ") > 0 .and. &
                index(text, "(0 to ") > 0, "the message of MPI_Send's error")
    call MPI_Comm_free(comm, ierror)
  end subroutine errors
end program module
