// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Spawning from Fortran: arrays of strings. An array of arguments ends with a blank string, and blanks around each
// string are not part of it (MPI-5.0, 11.8.2). Programs, arguments and numbers have a meaning at the root alone.

#include <string>
#include <vector>

#include "fortran/convert.hpp"

namespace weft::fortran {
namespace {

std::string stripped(const char* text, size_t length) {
  while (length > 0 && text[length - 1] == ' ') --length;
  for (; length > 0 && *text == ' '; --length) ++text;
  return {text, length};
}

// Strings as C takes them, with a null pointer at the end.
class Strings {
 public:
  Strings() = default;
  // Takes `count` strings of this length, one behind the other.
  Strings(const char* text, size_t length, int count) {
    for (int i = 0; i < count; ++i) strings_.push_back(stripped(text + static_cast<size_t>(i) * length, length));
  }
  // Takes the strings up to a blank one; the distance from one to the next is `step` bytes.
  static Strings up_to_blank(const char* text, size_t length, size_t step) {
    Strings made;
    for (std::string next; !(next = stripped(text, length)).empty(); text += step) made.strings_.push_back(next);
    return made;
  }
  char** pointers() {
    pointers_.clear();
    for (std::string& string : strings_) pointers_.push_back(string.data());
    pointers_.push_back(nullptr);
    return pointers_.data();
  }

 private:
  std::vector<std::string> strings_;
  std::vector<char*> pointers_;
};

// Whether this rank is the root. With a wrong communicator no rank is: the function of C reports the error.
bool is_root(MPI_Comm comm, int root) {
  int inter = 0;
  int rank = -1;
  if (comm == MPI_COMM_NULL || PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter != 0) return false;
  return PMPI_Comm_rank(comm, &rank) == MPI_SUCCESS && rank == root;
}

using Spawn = int(const char*, char*[], int, MPI_Info, int, MPI_Comm, MPI_Comm*, int[]);
using SpawnMultiple = int(int, char*[], char**[], const int[], const MPI_Info[], int, MPI_Comm, MPI_Comm*, int[]);

int spawn(Spawn* call, const char* command, const char* argv, const MPI_Fint* maxprocs, const MPI_Fint* info, int root,
          MPI_Fint comm_number, MPI_Fint* intercomm, MPI_Fint* codes, size_t command_length, size_t argv_length) {
  const auto comm = Convert<MPI_Comm>::in(comm_number);
  Out<MPI_Comm> made(intercomm);
  if (!is_root(comm, root)) {
    return call(nullptr, MPI_ARGV_NULL, 0, MPI_INFO_NULL, root, comm, made, codes_in(codes));
  }
  Strings words;
  const bool given = !is_argv_null(argv);
  if (given) words = Strings::up_to_blank(argv, argv_length, argv_length);
  const std::string program = stripped(command, command_length);
  return call(program.c_str(), given ? words.pointers() : MPI_ARGV_NULL, *maxprocs, Convert<MPI_Info>::in(*info), root,
              comm, made, codes_in(codes));
}

int spawn_multiple(SpawnMultiple* call, const MPI_Fint* count_given, const char* commands, const char* argvs,
                   const MPI_Fint* maxprocs, const MPI_Fint* infos, int root, MPI_Fint comm_number, MPI_Fint* intercomm,
                   MPI_Fint* codes, size_t command_length, size_t argv_length) {
  const auto comm = Convert<MPI_Comm>::in(comm_number);
  Out<MPI_Comm> made(intercomm);
  if (!is_root(comm, root)) {
    return call(0, nullptr, MPI_ARGVS_NULL, nullptr, nullptr, root, comm, made, codes_in(codes));
  }
  const int count = std::max(*count_given, 0);
  Strings programs(commands, command_length, count);
  // A row for each program, in columns.
  std::vector<Strings> words;
  words.reserve(static_cast<size_t>(count));
  std::vector<char**> rows;
  const bool given = !is_argvs_null(argvs);
  for (int i = 0; given && i < count; ++i) {
    const size_t column = static_cast<size_t>(count) * argv_length;
    words.push_back(Strings::up_to_blank(argvs + static_cast<size_t>(i) * argv_length, argv_length, column));
  }
  rows.reserve(words.size());
  for (Strings& row : words) rows.push_back(row.pointers());
  return call(*count_given, programs.pointers(), given ? rows.data() : MPI_ARGVS_NULL, maxprocs,
              HandlesIn<MPI_Info>(count, infos), root, comm, made, codes_in(codes));
}

}  // namespace

#define WEFT_SPAWN(p, P)                                                                                               \
  extern "C" __attribute__((visibility("default"))) void p##_comm_spawn_(                                              \
      const char* command, const char* argv, const MPI_Fint* maxprocs, const MPI_Fint* info, const MPI_Fint* root,     \
      const MPI_Fint* comm, MPI_Fint* intercomm, MPI_Fint* codes, MPI_Fint* ierror, size_t command_length,             \
      size_t argv_length) {                                                                                            \
    give(ierror, spawn(P##_Comm_spawn, command, argv, maxprocs, info, *root, *comm, intercomm, codes, command_length,  \
                       argv_length));                                                                                  \
  }                                                                                                                    \
  extern "C" __attribute__((visibility("default"))) void p##_comm_spawn_multiple_(                                     \
      const MPI_Fint* count, const char* commands, const char* argvs, const MPI_Fint* maxprocs, const MPI_Fint* infos, \
      const MPI_Fint* root, const MPI_Fint* comm, MPI_Fint* intercomm, MPI_Fint* codes, MPI_Fint* ierror,              \
      size_t command_length, size_t argv_length) {                                                                     \
    give(ierror, spawn_multiple(P##_Comm_spawn_multiple, count, commands, argvs, maxprocs, infos, *root, *comm,        \
                                intercomm, codes, command_length, argv_length));                                       \
  }                                                                                                                    \
  WEFT_F08(p##_comm_spawn)                                                                                             \
  WEFT_F08(p##_comm_spawn_multiple)
WEFT_SPAWN(mpi, MPI)
WEFT_SPAWN(pmpi, PMPI)

}  // namespace weft::fortran
