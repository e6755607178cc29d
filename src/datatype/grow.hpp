// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Arrays that grow while a layout is made, without exceptions: no memory is an answer.

#include <cstdlib>

namespace weft::datatype {

// Makes space for one more element behind the `used` of a plain type; false when there is no memory.
template <class T, class Count>
[[nodiscard]] bool grow(T*& array, Count used, Count& room) {
  if (used < room) return true;
  const Count wanted = room < 8 ? 8 : 2 * room;
  auto* larger = static_cast<T*>(std::realloc(static_cast<void*>(array), static_cast<size_t>(wanted) * sizeof(T)));
  if (!larger) return false;
  array = larger;
  room = wanted;
  return true;
}

}  // namespace weft::datatype
