// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mpich/array.hpp"

namespace weft::mpich {

void no_memory_for_array(size_t bytes) {
  face.hooks.die(
      {"no memory to convert an array of " + std::to_string(bytes) + " bytes between MPICH's ABI and the standard's", 0,
       "complete fewer requests in one call, or free memory"});
  __builtin_unreachable();
}

}  // namespace weft::mpich
