! SPDX-FileCopyrightText: 2026 the Weft authors
! SPDX-License-Identifier: BSD-3-Clause
! Spawned processes through mpi_f08: the program starts itself, with strings of Fortran as arguments. What has a meaning at
! the root alone is wrong at the others.
program f08_spawn
  use mpi_f08
  implicit none
  integer :: rank, ranks, wrong = 0
  type(MPI_Comm) :: parents
  character(len=1000) :: self
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call get_command_argument(0, self)
  call MPI_Comm_get_parent(parents)
  if (parents == MPI_COMM_NULL) then
    call one
    call without_arguments
    call several
    call failures
  else
    call child
  end if
  if (wrong /= 0) call MPI_Abort(MPI_COMM_WORLD, 1)
  call MPI_Finalize()

contains

  include "expect.inc"

  ! Blanks around an argument are not part of it, those within are; a blank one is the last.
  subroutine one
    character(len=12) :: words(5)
    type(MPI_Comm) :: children
    integer :: codes(2)
    words = [character(len=12) :: "arguments", "  two words ", "x", "", "not given"]
    codes = -1
    if (rank == 0) then
      call MPI_Comm_spawn("  " // trim(self) // "  ", words, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, children, codes)
    else
      call MPI_Comm_spawn(" ", words(5:5), -7, MPI_Info(12345), 0, MPI_COMM_WORLD, children, codes)
    end if
    call expect(all(codes == MPI_SUCCESS), "array_of_errcodes")
    call leave(children, 2, 2)
  end subroutine one

  subroutine without_arguments
    type(MPI_Comm) :: children
    call MPI_Comm_spawn(self, MPI_ARGV_NULL, 1, MPI_INFO_NULL, ranks - 1, MPI_COMM_WORLD, children, MPI_ERRCODES_IGNORE)
    call leave(children, 1, 0)
  end subroutine without_arguments

  ! A row of arguments for each program, with and without.
  subroutine several
    character(len=1000) :: programs(2)
    character(len=12) :: words(2, 3)
    type(MPI_Comm) :: children
    type(MPI_Info) :: infos(2)
    integer :: codes(3), counts(2)
    programs = self
    words(1, :) = [character(len=12) :: "several", "first", ""]
    words(2, :) = [character(len=12) :: "several", "", "not given"]
    infos = MPI_INFO_NULL
    counts = [1, 2]
    codes = -1
    if (rank == 0) then
      call MPI_Comm_spawn_multiple(2, programs, words, counts, infos, 0, MPI_COMM_WORLD, children, codes)
    else
      call MPI_Comm_spawn_multiple(-3, programs(1:1), words(2:2, 2:2), counts(1:1), infos(1:1), 0, MPI_COMM_WORLD, &
                                   children, codes)
    end if
    call expect(all(codes == MPI_SUCCESS), "array_of_errcodes of several programs")
    call leave(children, 3, 4)
    call MPI_Comm_spawn_multiple(2, programs, MPI_ARGVS_NULL, counts, infos, 0, MPI_COMM_WORLD, children, &
                                 MPI_ERRCODES_IGNORE)
    call leave(children, 3, 0)
  end subroutine several

  ! Each child says how many arguments it has; `total` is the number of all.
  subroutine leave(children, count, total)
    type(MPI_Comm), intent(inout) :: children
    integer, intent(in) :: count, total
    integer :: found, there
    call MPI_Comm_remote_size(children, found)
    call expect(found == count, "the number of children")
    there = 0
    call MPI_Allreduce(there, found, 1, MPI_INTEGER, MPI_SUM, children)
    call expect(found == total, "arguments of the children")
    call MPI_Comm_disconnect(children)
    call expect(children == MPI_COMM_NULL, "MPI_Comm_disconnect")
  end subroutine leave

  subroutine failures
    type(MPI_Comm) :: children
    integer :: codes(1), ierror, class
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
    codes = -1
    call MPI_Comm_spawn("./no-such-program", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, children, codes, ierror)
    call MPI_Error_class(ierror, class)
    call expect(class == MPI_ERR_SPAWN .and. children == MPI_COMM_NULL, "a program that is not there")
    if (rank == 0) call expect(codes(1) == MPI_ERR_SPAWN, "its code")
    call MPI_Comm_spawn(self, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_NULL, children, codes, ierror)
    call MPI_Error_class(ierror, class)
    call expect(class == MPI_ERR_COMM, "a wrong communicator")
  end subroutine failures

  subroutine child
    character(len=100) :: word
    integer :: given, none, length
    given = command_argument_count()
    word = ""
    if (given > 0) call get_command_argument(1, word)
    if (word == "arguments") then
      ! `two words` and `x`: three with the first, and the parents expect two of two children.
      call expect(given == 3, "the number of arguments")
      call get_command_argument(2, word, length)
      call expect(word == "two words" .and. length == 9, "an argument of two words")
      call get_command_argument(3, word, length)
      call expect(word == "x" .and. length == 1, "an argument of a letter")
      given = 1
    else if (word == "several") then
      call expect(given == merge(2, 1, rank == 0), "the number of arguments of a program")
      if (rank == 0) call get_command_argument(2, word)
      if (rank == 0) call expect(word == "first", "an argument of the first program")
    end if
    call MPI_Allreduce(given, none, 1, MPI_INTEGER, MPI_SUM, parents)
    call MPI_Comm_disconnect(parents)
  end subroutine child
end program f08_spawn
