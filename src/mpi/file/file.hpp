// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Common parts of the calls on files: checks of their arguments, and how the results of src/io become errors.

#include "mpi/functions.hpp"
#include "mpi/object/check.hpp"
#include "mpi/object/file.hpp"

namespace weft::mpi {

// A failed result on the file with this path, in words.
[[nodiscard]] std::string text_of(const io::Result& result, const std::string& path);
// Raises the error of a result that is one; MPI_SUCCESS otherwise.
[[nodiscard]] int raise(const char* function, const File& file, const io::Result& result);

// The checks of calls on files beside those of all.
class FileCheck : public Check {
 public:
  using Check::Check;
  // A check for a file that has no handle yet.
  FileCheck(const char* function, File* file) : Check(function, static_cast<const Comm*>(nullptr)) { file_ = file; }

  // Raises the error of a result that is one.
  void take(const io::Result& result) {
    if (!failed() && result.failed()) error_ = raise(function_, *file_, result);
  }
  // The state of this rank's arguments, for the other ranks of a collective call.
  [[nodiscard]] io::Result told() const { return failed() ? io::failure(error_, io::Act::arguments) : io::Result{}; }
  void offset(MPI_Offset offset, const char* name);
  void reads();   // the file was opened so
  void writes();  // the file was opened so
  void not_sequential();
};

}  // namespace weft::mpi
