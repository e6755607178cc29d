// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "foreign/array.hpp"

namespace weft::foreign {

void no_memory_for_array(size_t bytes) {
  face.hooks.die({"no memory to convert an array of " + std::to_string(bytes) + " bytes between " + abi_title +
                      " and the standard's",
                  0, "complete fewer requests in one call, or free memory"});
  __builtin_unreachable();
}

}  // namespace weft::foreign
