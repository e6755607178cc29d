// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Data representations of files (MPI-5.0, 14.5).

#include <mpi.h>

#include <string>

namespace weft::mpi {

struct Datarep {
  enum class Form : uint8_t { native, external32, registered };

  std::string name;
  Form form = Form::native;
};

[[nodiscard]] const Datarep* native_datarep();
// The representation of this name; nullptr: there is none.
[[nodiscard]] const Datarep* find_datarep(const char* name);

}  // namespace weft::mpi
