! SPDX-FileCopyrightText: 2026 the Weft authors
! SPDX-License-Identifier: BSD-3-Clause
! PARPACK finds eigenvalues of a grid's Laplacian, whose rows of points the ranks share: the largest of the symmetric matrix, and
! those of the largest magnitude of the matrix times a complex number. They are known. Prints how many were right and wrong.
program parpack_grid
  use mpi
  implicit none
  integer, parameter :: width = 24, height = 37, wanted = 6, basis = 40
  double precision, parameter :: pi = acos(-1d0)
  complex(kind(1d0)), parameter :: factor = (0.6d0, 0.8d0)
  integer :: ranks, rank, error, first, last, points, counts(2)
  double precision :: exact(width * height)

  call MPI_Init(error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  first = rank * height / ranks + 1
  last = (rank + 1) * height / ranks
  points = (last - first + 1) * width
  call find_exact()
  counts = 0
  call symmetric()
  call complex_one()
  if (rank == 0) print '(i0, a, i0, a, i0, a)', ranks, " ranks: ", counts(1), " right, ", counts(2), " wrong"
  call MPI_Finalize(error)

contains

  subroutine judge(right)
    logical, intent(in) :: right
    if (right) then
      counts(1) = counts(1) + 1
    else
      counts(2) = counts(2) + 1
    end if
  end subroutine judge

  ! The eigenvalues, the largest first.
  subroutine find_exact()
    double precision :: value
    integer :: i, j, place, n
    n = 0
    do j = 1, height
      do i = 1, width
        value = 4 - 2 * cos(pi * i / (width + 1)) - 2 * cos(pi * j / (height + 1))
        place = n
        do while (place > 0)
          if (exact(place) >= value) exit
          exact(place + 1) = exact(place)
          place = place - 1
        end do
        exact(place + 1) = value
        n = n + 1
      end do
    end do
  end subroutine find_exact

  ! The neighbours of a rank give their rows next to its own.
  subroutine multiply(from, to)
    double precision, intent(in) :: from(width, first:last)
    double precision, intent(out) :: to(width, first:last)
    double precision :: rows(0:width + 1, first - 1:last + 1), edge(width)
    integer :: lower, upper, j
    rows = 0
    rows(1:width, first:last) = from
    lower = merge(rank - 1, MPI_PROC_NULL, rank > 0)
    upper = merge(rank + 1, MPI_PROC_NULL, rank < ranks - 1)
    edge = 0
    call MPI_Sendrecv(from(:, last), width, MPI_DOUBLE_PRECISION, upper, 1, edge, width, MPI_DOUBLE_PRECISION, lower, 1, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    rows(1:width, first - 1) = edge
    edge = 0
    call MPI_Sendrecv(from(:, first), width, MPI_DOUBLE_PRECISION, lower, 2, edge, width, MPI_DOUBLE_PRECISION, upper, 2, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    rows(1:width, last + 1) = edge
    do j = first, last
      to(:, j) = 4 * rows(1:width, j) - rows(0:width - 1, j) - rows(2:width + 1, j) - rows(1:width, j - 1) - rows(1:width, j + 1)
    end do
  end subroutine multiply

  ! Each eigenvector is right when the matrix times it is its eigenvalue times it, on all ranks.
  subroutine symmetric()
    double precision :: residue(points), vectors(points, basis), work(3 * points), more(basis * (basis + 8)), found(wanted)
    double precision :: image(points), errors(wanted), largest(wanted)
    logical :: chosen(basis)
    integer :: do_next, parameters(11), places(11), info, i
    do_next = 0
    info = 0
    parameters = 0
    parameters(1) = 1
    parameters(3) = 500
    parameters(4) = 1
    parameters(7) = 1
    do
      call pdsaupd(MPI_COMM_WORLD, do_next, "I", points, "LA", wanted, 1d-12, residue, basis, vectors, points, parameters, &
                   places, work, more, size(more), info)
      if (abs(do_next) /= 1) exit
      call multiply(work(places(1)), work(places(2)))
    end do
    call judge(info == 0 .and. parameters(5) == wanted)
    call pdseupd(MPI_COMM_WORLD, .true., "A", chosen, found, vectors, points, 0d0, "I", points, "LA", wanted, 1d-12, residue, &
                 basis, vectors, points, parameters, places, work, more, size(more), info)
    call judge(info == 0)
    do i = 1, wanted
      call multiply(vectors(:, i), image)
      errors(i) = maxval(abs(image - found(i) * vectors(:, i)))
    end do
    call MPI_Allreduce(errors, largest, wanted, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, error)
    do i = 1, wanted
      call judge(largest(i) < 1d-9)
      call judge(abs(found(i) - exact(wanted + 1 - i)) < 1d-9)
    end do
  end subroutine symmetric

  subroutine complex_one()
    complex(kind(1d0)) :: residue(points), vectors(points, basis), work(3 * points), more(3 * basis * basis + 5 * basis)
    complex(kind(1d0)) :: found(basis), space(2 * basis)
    double precision :: numbers(basis), parts(points, 2)
    logical :: chosen(basis)
    integer :: do_next, parameters(11), places(14), info, i
    do_next = 0
    info = 0
    parameters = 0
    parameters(1) = 1
    parameters(3) = 500
    parameters(4) = 1
    parameters(7) = 1
    do
      call pznaupd(MPI_COMM_WORLD, do_next, "I", points, "LM", wanted, 1d-12, residue, basis, vectors, points, parameters, &
                   places, work, more, size(more), numbers, info)
      if (abs(do_next) /= 1) exit
      associate (given => work(places(1):places(1) + points - 1))
        call multiply(real(given), parts(:, 1))
        call multiply(aimag(given), parts(:, 2))
      end associate
      work(places(2):places(2) + points - 1) = factor * cmplx(parts(:, 1), parts(:, 2), kind(1d0))
    end do
    call judge(info == 0 .and. parameters(5) == wanted)
    call pzneupd(MPI_COMM_WORLD, .false., "A", chosen, found, vectors, points, factor, space, "I", points, "LM", wanted, 1d-12, &
                 residue, basis, vectors, points, parameters, places, work, more, size(more), numbers, info)
    call judge(info == 0)
    do i = 1, wanted
      call judge(any(abs(found(:wanted) - factor * exact(i)) < 1d-9))
    end do
  end subroutine complex_one
end program parpack_grid
