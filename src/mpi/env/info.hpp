// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Info objects: keys and values in the order they were set. Usable without MPI_Init, from any thread.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mpi/object/object.hpp"

namespace weft::mpi {

// Thread-safe: answers are copies.
struct Info : base::Object {
  using Entries = std::vector<std::pair<std::string, std::string>>;

  bool predefined = false;

  [[nodiscard]] std::optional<std::string> find(const char* key) const;
  [[nodiscard]] Entries entries() const;
  void set(const char* key, std::string value);
  void set_all(Entries entries);
  [[nodiscard]] bool erase(const char* key);  // false: there is no such key

 private:
  [[nodiscard]] Entries::const_iterator place_of(const char* key) const;

  mutable base::Lock lock_;
  Entries entries_;
};

inline Info* info_of(MPI_Info h) {
  return object_of<Info, base::Kind::info>(h);
}

// A new object; nullptr when there is no memory.
[[nodiscard]] Info* make_info();

// MPI_INFO_ENV.
[[nodiscard]] base::Object* build_info_env();

}  // namespace weft::mpi
