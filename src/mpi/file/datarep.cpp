// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Data representations (MPI-5.0, 14.5).
#include "mpi/file/datarep.hpp"

#include <cstring>

namespace weft::mpi {

const Datarep* native_datarep() {
  static const Datarep* const made = new Datarep{"native", Datarep::Form::native};
  return made;
}

const Datarep* find_datarep(const char* name) {
  static const Datarep* const internal = new Datarep{"internal", Datarep::Form::native};
  if (strcmp(name, "native") == 0) return native_datarep();
  if (strcmp(name, "internal") == 0) return internal;
  return nullptr;
}

}  // namespace weft::mpi
