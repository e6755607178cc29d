// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Reduction kernels: inout[i] = in[i] op inout[i], for the predefined operations on the basic types.

#include "datatype/type.hpp"

namespace weft::datatype {

enum class Reduction : uint8_t {
  sum, min, max, prod, band, bor, bxor, land, lor, lxor, minloc, maxloc, replace, no_op,
};

using Kernel = void (*)(const void* in, void* inout, int64_t count);

// The kernel for this operation on this type; nullptr when the standard does not allow the pair.
[[nodiscard]] Kernel kernel(Reduction reduction, Basic basic);

}  // namespace weft::datatype
