! SPDX-FileCopyrightText: 2026 the Weft authors
! SPDX-License-Identifier: BSD-3-Clause
! Spawned processes through the module mpi: the program starts itself; f08_spawn.f90 has the rules of arguments.
program spawn
  use mpi
  implicit none
  integer :: ierror, rank, parents, wrong
  character(len=1000) :: self
  wrong = 0
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call get_command_argument(0, self)
  call MPI_Comm_get_parent(parents, ierror)
  if (parents == MPI_COMM_NULL) then
    call both
  else
    call child
  end if
  if (wrong /= 0) call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
  call MPI_Finalize(ierror)

contains

  include "expect.inc"

  subroutine both
    character(len=1000) :: programs(2)
    character(len=9) :: words(2, 2)
    integer :: children, codes(2), counts(2), infos(2), sum
    words(1, :) = [character(len=9) :: " 17", ""]
    words(2, :) = [character(len=9) :: "25", ""]
    call MPI_Comm_spawn(self, words(2, :), 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, children, codes, ierror)
    call expect(ierror == MPI_SUCCESS .and. all(codes == MPI_SUCCESS), "MPI_Comm_spawn")
    call MPI_Allreduce(0, sum, 1, MPI_INTEGER, MPI_SUM, children, ierror)
    call expect(sum == 50, "arguments of two children")
    call MPI_Comm_disconnect(children, ierror)
    programs = self
    counts = 1
    infos = MPI_INFO_NULL
    call MPI_Comm_spawn_multiple(2, programs, words, counts, infos, 0, MPI_COMM_WORLD, children, MPI_ERRCODES_IGNORE, ierror)
    call MPI_Allreduce(0, sum, 1, MPI_INTEGER, MPI_SUM, children, ierror)
    call expect(sum == 42, "an argument of each program")
    call MPI_Comm_disconnect(children, ierror)
  end subroutine both

  subroutine child
    character(len=100) :: word
    integer :: number, none
    call get_command_argument(1, word)
    read (word, *) number
    call MPI_Allreduce(number, none, 1, MPI_INTEGER, MPI_SUM, parents, ierror)
    call MPI_Comm_disconnect(parents, ierror)
  end subroutine child
end program spawn
