// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Loads and stores through memcpy: the user's objects may have another type of the same kind, or be misaligned.

#include <cstdint>
#include <cstring>

namespace weft::datatype {

template <class T>
inline T load(const void* base, int64_t bytes) {
  T value;
  std::memcpy(&value, static_cast<const char*>(base) + bytes, sizeof value);
  return value;
}

template <class T>
inline void store(void* base, int64_t bytes, T value) {
  std::memcpy(static_cast<char*>(base) + bytes, &value, sizeof value);
}

}  // namespace weft::datatype
