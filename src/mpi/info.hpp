// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Info objects: keys and values in the order they were set. Usable without MPI_Init, from any thread.

#include <string>
#include <utility>
#include <vector>

#include "mpi/object.hpp"

namespace weft::mpi {

struct Info : base::Object {
  std::vector<std::pair<std::string, std::string>> entries;
  bool predefined = false;

  [[nodiscard]] const std::string* find(const char* key) const;
  void set(const char* key, std::string value);
};

inline Info* info_of(MPI_Info h) {
  return object_of<Info, base::Kind::info>(h);
}

// A new object; nullptr when there is no memory.
[[nodiscard]] Info* make_info();

// MPI_INFO_ENV.
[[nodiscard]] base::Object* build_info_env();

}  // namespace weft::mpi
