! SPDX-FileCopyrightText: 2026 the Weft authors
! SPDX-License-Identifier: BSD-3-Clause
! The wave equation on the unit square with fixed edges, on a grid of ranks. The halos of columns are sections of
! arrays, which mpi_f08 sends as they are. A standing wave is known exactly, so the program tells its own error.
!
!   mpifort -O3 waves.f90 -o waves && mpiexec -n 4 ./waves [POINTS [STEPS]]
program waves
  use, intrinsic :: iso_fortran_env, only: real64
  use mpi_f08
  implicit none

  integer, parameter :: to_left = 1, to_right = 2, to_below = 3, to_above = 4  ! tags
  real(real64), parameter :: pi = acos(-1.0_real64)
  type(MPI_Comm) :: grid
  integer :: points = 255, steps = 500       ! inner points of a side, steps in time
  integer :: ranks, rank, step
  integer :: dims(2) = 0, place(2)
  integer :: left, right, below, above       ! neighbours, MPI_PROC_NULL at the edge
  integer :: first(2), n(2)                  ! this rank's first point, and how many it has, by dimension
  real(real64) :: h, dt, began, took, worst
  real(real64), allocatable :: before(:, :), now(:, :), next(:, :)

  call MPI_Init()
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call read_arguments()
  call MPI_Dims_create(ranks, 2, dims)
  call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, [.false., .false.], .true., grid)
  call MPI_Comm_rank(grid, rank)
  call MPI_Cart_coords(grid, rank, 2, place)
  call MPI_Cart_shift(grid, 0, 1, left, right)
  call MPI_Cart_shift(grid, 1, 1, below, above)
  first = place * points / dims + 1
  n = (place + 1) * points / dims + 1 - first
  if (any(dims > points)) call fail("more ranks than points")

  h = 1.0_real64 / (points + 1)
  dt = 0.5_real64 * h
  allocate(before(0:n(1) + 1, 0:n(2) + 1), now(0:n(1) + 1, 0:n(2) + 1), next(0:n(1) + 1, 0:n(2) + 1))
  before = 0
  now = 0
  next = 0
  call exact(before, 0.0_real64)
  call exact(now, dt)

  call MPI_Barrier(grid)
  began = MPI_Wtime()
  do step = 2, steps
    call exchange(now)
    call advance()
  end do
  took = MPI_Wtime() - began

  ! How far the farthest point is from the exact wave.
  call exact(before, steps * dt)
  worst = maxval(abs(now(1:n(1), 1:n(2)) - before(1:n(1), 1:n(2))))
  call MPI_Allreduce(MPI_IN_PLACE, worst, 1, MPI_DOUBLE_PRECISION, MPI_MAX, grid)
  call MPI_Allreduce(MPI_IN_PLACE, took, 1, MPI_DOUBLE_PRECISION, MPI_MAX, grid)
  if (rank == 0) then
    print '(a, i0, a, i0, a, i0, a, i0, a, i0, a, es8.1, a, f6.3, a)', "waves: ", points, " x ", points, " points, ", &
      steps, " steps on ", dims(1), " x ", dims(2), " ranks: largest error", worst, ", ", took, " s"
  end if
  if (.not. worst < 2 * h**2 * (1 + steps * dt)) call fail("the error is too large")
  call MPI_Comm_free(grid)
  call MPI_Finalize()

contains

  subroutine read_arguments()
    call read_argument(1, points)
    call read_argument(2, steps)
  end subroutine

  subroutine read_argument(which, number)
    integer, intent(in) :: which
    integer, intent(inout) :: number
    character(32) :: text
    integer :: error
    if (command_argument_count() < which) return
    call get_command_argument(which, text)
    read (text, *, iostat=error) number
    if (error /= 0 .or. number < 1 .or. number > 30000) call fail("usage: waves [POINTS [STEPS]]")
  end subroutine

  subroutine fail(text)
    character(*), intent(in) :: text
    print '(2a)', "waves: ", text
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine

  ! The standing wave at a time, at this rank's points.
  subroutine exact(u, time)
    real(real64), intent(inout) :: u(0:, 0:)
    real(real64), intent(in) :: time
    integer :: i, j
    do j = 1, n(2)
      do i = 1, n(1)
        u(i, j) = sin(pi * h * (first(1) + i - 1)) * sin(pi * h * (first(2) + j - 1)) * cos(sqrt(2.0_real64) * pi * time)
      end do
    end do
  end subroutine

  ! u(1, 1:n(2)) has a gap behind each element: it is sent from where it lies.
  subroutine exchange(u)
    real(real64), intent(inout), asynchronous :: u(0:, 0:)
    type(MPI_Request) :: requests(8)
    call MPI_Irecv(u(0, 1:n(2)), n(2), MPI_DOUBLE_PRECISION, left, to_right, grid, requests(1))
    call MPI_Irecv(u(n(1) + 1, 1:n(2)), n(2), MPI_DOUBLE_PRECISION, right, to_left, grid, requests(2))
    call MPI_Irecv(u(1:n(1), 0), n(1), MPI_DOUBLE_PRECISION, below, to_above, grid, requests(3))
    call MPI_Irecv(u(1:n(1), n(2) + 1), n(1), MPI_DOUBLE_PRECISION, above, to_below, grid, requests(4))
    call MPI_Isend(u(1, 1:n(2)), n(2), MPI_DOUBLE_PRECISION, left, to_left, grid, requests(5))
    call MPI_Isend(u(n(1), 1:n(2)), n(2), MPI_DOUBLE_PRECISION, right, to_right, grid, requests(6))
    call MPI_Isend(u(1:n(1), 1), n(1), MPI_DOUBLE_PRECISION, below, to_below, grid, requests(7))
    call MPI_Isend(u(1:n(1), n(2)), n(1), MPI_DOUBLE_PRECISION, above, to_above, grid, requests(8))
    call MPI_Waitall(8, requests, MPI_STATUSES_IGNORE)
    if (.not. MPI_ASYNC_PROTECTS_NONBLOCKING) call MPI_F_sync_reg(u)
  end subroutine

  ! One step: second differences in space and time. (dt / h)**2 is a quarter.
  subroutine advance()
    real(real64), allocatable :: oldest(:, :)
    integer :: i, j
    do j = 1, n(2)
      do i = 1, n(1)
        next(i, j) = now(i, j) - before(i, j) + 0.25_real64 * (now(i - 1, j) + now(i + 1, j) + now(i, j - 1) + now(i, j + 1))
      end do
    end do
    call move_alloc(before, oldest)
    call move_alloc(now, before)
    call move_alloc(next, now)
    call move_alloc(oldest, next)
  end subroutine
end program
