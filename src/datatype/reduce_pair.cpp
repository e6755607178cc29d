// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Kernels of pairs: a value with an index, which is an integer in C and of the value's type in Fortran's own pairs.
#include <algorithm>
#include <type_traits>

#include "datatype/element.hpp"
#include "datatype/operation.hpp"
#include "datatype/reduce.hpp"

namespace weft::datatype {
namespace {

// The layout that pair_size() computes.
template <class Value, class Index>
struct PairLayout {
  static constexpr int64_t to_index = std::max(sizeof(Value), sizeof(Index));
  static constexpr int64_t extent = 2 * to_index;
};

template <class Value, class Index, bool least>
void locate(const void* __restrict in, void* __restrict inout, int64_t count) {
  using Pair = PairLayout<Value, Index>;
  for (int64_t at = 0; at < count * Pair::extent; at += Pair::extent) {
    const auto a = load<Value>(in, at);
    const auto b = load<Value>(inout, at);
    const auto a_index = load<Index>(in, at + Pair::to_index);
    const auto b_index = load<Index>(inout, at + Pair::to_index);
    const bool wins = Locate<least>::wins(a, a_index, b, b_index);
    store<Value>(inout, at, wins ? a : b);
    store<Index>(inout, at + Pair::to_index, wins ? a_index : b_index);
  }
}

// The two elements without the gaps.
template <class Value, class Index>
void replace(const void* __restrict in, void* __restrict inout, int64_t count) {
  using Pair = PairLayout<Value, Index>;
  for (int64_t at = 0; at < count * Pair::extent; at += Pair::extent) {
    store(inout, at, load<Value>(in, at));
    store(inout, at + Pair::to_index, load<Index>(in, at + Pair::to_index));
  }
}

void nothing(const void* /*in*/, void* /*inout*/, int64_t /*count*/) {}

template <class Value, class Index>
Kernel pair(Reduction reduction) {
  switch (reduction) {
    case Reduction::minloc:
      return locate<Value, Index, true>;
    case Reduction::maxloc:
      return locate<Value, Index, false>;
    case Reduction::replace:
      return replace<Value, Index>;
    case Reduction::no_op:
      return nothing;
    default:
      return nullptr;
  }
}

template <class Value>
Kernel pair_with(Reduction reduction, Basic index) {
  switch (index) {
    case Basic::int8:
      return pair<Value, int8_t>(reduction);
    case Basic::int16:
      return pair<Value, int16_t>(reduction);
    case Basic::int32:
      return pair<Value, int32_t>(reduction);
    case Basic::int64:
      return pair<Value, int64_t>(reduction);
    case Basic::int128:
      return pair<Value, Int128>(reduction);
    case Basic::uint8:
      return pair<Value, uint8_t>(reduction);
    case Basic::uint16:
      return pair<Value, uint16_t>(reduction);
    case Basic::uint32:
      return pair<Value, uint32_t>(reduction);
    case Basic::uint64:
      return pair<Value, uint64_t>(reduction);
    case Basic::float32:
      return std::is_same_v<Value, float> ? pair<Value, float>(reduction) : nullptr;
    case Basic::float64:
      return std::is_same_v<Value, double> ? pair<Value, double>(reduction) : nullptr;
    default:
      return nullptr;
  }
}

}  // namespace

Kernel pair_kernel(Reduction reduction, Basic value, Basic index) {
  switch (value) {
    case Basic::int8:
      return pair_with<int8_t>(reduction, index);
    case Basic::int16:
      return pair_with<int16_t>(reduction, index);
    case Basic::int32:
      return pair_with<int32_t>(reduction, index);
    case Basic::int64:
      return pair_with<int64_t>(reduction, index);
    case Basic::int128:
      return pair_with<Int128>(reduction, index);
    case Basic::uint8:
      return pair_with<uint8_t>(reduction, index);
    case Basic::uint16:
      return pair_with<uint16_t>(reduction, index);
    case Basic::uint32:
      return pair_with<uint32_t>(reduction, index);
    case Basic::uint64:
      return pair_with<uint64_t>(reduction, index);
    case Basic::float16:
      return pair_with<Half>(reduction, index);
    case Basic::bfloat16:
      return pair_with<BrainHalf>(reduction, index);
    case Basic::float32:
      return pair_with<float>(reduction, index);
    case Basic::float64:
      return pair_with<double>(reduction, index);
    case Basic::float80:
      return pair_with<long double>(reduction, index);
    case Basic::float128:
      return pair_with<Float128>(reduction, index);
    default:
      return nullptr;
  }
}

}  // namespace weft::datatype
