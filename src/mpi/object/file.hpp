// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The objects of files, apart from the others, which know nothing of files.

#include "io/file.hpp"
#include "mpi/object/object.hpp"

namespace weft::mpi {

struct Datarep;  // file/datarep.hpp

// A file; `comm` is its own communicator.
struct File : io::File {
  Errhandler* errhandler = nullptr;
  int amode = 0;                     // as MPI_File_open got it
  const Datarep* datarep = nullptr;  // of the view
  Type* etype = nullptr;             // of the view as the program gave them, one reference each
  Type* filetype = nullptr;
  Win* pointer = nullptr;                  // the shared pointer, at rank 0; nullptr: the file has one rank,
  std::atomic<int64_t> pointer_alone = 0;  // whose it is
  // These two are used as a communicator's members of the same names (object.hpp, core/object/comm.hpp); the text is
  // guarded by `details`.
  std::optional<std::string> memory_asserted;
  bool host_memory = false;
  Request* split = nullptr;  // of a split collective access that has begun
  bool split_writes = false;
  uint8_t split_pointer = 0;  // a Pointer: file/data.hpp
};

// MPI_FILE_NULL, whose error handler is that of files opened later and of calls on no file (MPI-5.0, 14.7).
[[nodiscard]] File& no_file();

inline File* file_of(MPI_File h) {
  return object_of<File, base::Kind::file>(h);
}

}  // namespace weft::mpi
