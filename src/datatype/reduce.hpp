// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Reduction kernels: inout[i] = in[i] op inout[i], for the predefined operations on the basic types (MPI-5.0, 6.9.2
// and 6.9.4). Elements lie an extent apart, as in the user's memory: pairs keep the gaps of their C struct, and the
// kernels never write those gaps. Any alignment will do; the buffers do not overlap.

#include "datatype/type.hpp"

namespace weft::datatype {

// clang-format off
enum class Reduction : uint8_t {
  sum, min, max, prod, band, bor, bxor, land, lor, lxor, minloc, maxloc, replace, no_op,
};
// clang-format on

using Kernel = void (*)(const void* in, void* inout, int64_t count);

// The kernel for this operation on this type; nullptr when the standard does not allow the pair. A Basic does not
// tell C from Fortran integers, so the logical operations also take the latter.
[[nodiscard]] Kernel kernel(Reduction reduction, Basic basic);

}  // namespace weft::datatype
