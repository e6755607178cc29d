// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Reduction kernels: inout[i] = in[i] op inout[i], for the predefined operations on the basic types (MPI-5.0, 6.9.2
// and 6.9.4; docs/design/operations.md). Elements lie an extent apart, as in the user's memory: pairs keep the gaps of
// their C struct, and the kernels never write those gaps. Any alignment will do; the buffers do not overlap.

#include "datatype/type.hpp"

namespace weft::datatype {

// clang-format off
enum class Reduction : uint8_t {
  sum, min, max, prod, band, bor, bxor, land, lor, lxor, minloc, maxloc, replace, no_op,
};
// clang-format on

using Kernel = void (*)(const void* in, void* inout, int64_t count);

// Vector instructions that a kernel may use. All give the same bits, but for the payload of a NaN.
enum class Vectors : uint8_t { baseline, avx2, avx512 };

// The instructions that the processor has.
[[nodiscard]] Vectors vectors();

// The kernel for this operation on this type; nullptr when there is none. That is what the standard allows, and two
// things that programs do elsewhere: a Basic does not tell C from Fortran integers, so the logical operations also take
// the latter, and characters are integers.
[[nodiscard]] Kernel kernel(Reduction reduction, Basic basic, Vectors use = vectors());

// Returns the kernel for a pair of a value and an index with the layout of its C struct, pair_size(): minloc, maxloc,
// replace and no_op. nullptr when the value has no order or the index is no integer.
[[nodiscard]] Kernel pair_kernel(Reduction reduction, Basic value, Basic index);

// The value and the index of a named pair, which has the layout of its C struct; none of both for other types.
struct PairParts {
  Basic value;
  Basic index;
};
[[nodiscard]] PairParts pair_parts(Basic basic);

// Returns the kernel for a datatype: one that is derived has none.
[[nodiscard]] inline Kernel kernel(Reduction reduction, const Type& type) {
  if (!type.predefined) return nullptr;
  if (type.pair_value != Basic::none) return pair_kernel(reduction, type.pair_value, type.pair_index);
  return kernel(reduction, type.basic);
}

}  // namespace weft::datatype
