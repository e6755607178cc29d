// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Minimum and maximum with their place, on pairs of every value and every index.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "datatype/half.hpp"
#include "datatype/predefined.hpp"
#include "datatype/reduce.hpp"

namespace weft::datatype {
namespace {

__extension__ using Int128 = __int128;
#if defined(__SIZEOF_FLOAT128__)
__extension__ using Float128 = __float128;
#else
using Float128 = long double;
#endif

template <class Value, class Index>
struct Pair {
  Value value;
  Index index;
};

// Halves have no arithmetic of their own.
template <class T>
double number(T value) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BrainHalf>) {
    return static_cast<float>(value);
  } else {
    return static_cast<double>(value);
  }
}
template <class T>
T value_of(int small) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BrainHalf>) {
    return T(static_cast<float>(small));
  } else {
    return static_cast<T>(small);
  }
}

// For what there are 150 of: compiled once, and not where it is asked.
[[gnu::noinline]] void expect(bool holds, const char* what, int at) {
  if (!holds) ADD_FAILURE() << what << " at " << at;
}

template <class Value, class Index>
void check(Kernel minloc, Kernel maxloc, Kernel replace, BasicSize size) {
  using P = Pair<Value, Index>;
  constexpr int count = 100;
  std::mt19937_64 random(6);
  expect(size.extent == static_cast<int>(sizeof(P)), "extent", 0);
  expect(size.second_offset == static_cast<int>(offsetof(P, index)), "place of the index", 0);
  for (bool least : {true, false}) {
    P in[count], inout[count], before[count];
    std::memset(static_cast<void*>(in), 0x11, sizeof in);
    std::memset(static_cast<void*>(inout), 0x22, sizeof inout);
    for (int i = 0; i < count; ++i) {
      in[i].value = value_of<Value>(static_cast<int>(random() % 5) + 1);
      inout[i].value = value_of<Value>(static_cast<int>(random() % 5) + 1);
      in[i].index = static_cast<Index>(random() % 9);
      inout[i].index = static_cast<Index>(random() % 9);
    }
    std::memcpy(static_cast<void*>(before), inout, sizeof inout);
    const Kernel locate = least ? minloc : maxloc;
    expect(locate && replace, "a kernel", 0);
    if (!locate || !replace) return;
    locate(in, inout, count);
    for (int i = 0; i < count; ++i) {
      const double a = number(in[i].value), b = number(before[i].value);
      const bool better = least ? a < b : a > b;
      expect(number(inout[i].value) == (better ? a : b), "value", i);
      const Index index = a == b ? std::min(in[i].index, before[i].index) : better ? in[i].index : before[i].index;
      expect(inout[i].index == index, "index", i);
    }
    replace(in, inout, count);
    for (int i = 0; i < count; ++i) {
      expect(number(inout[i].value) == number(in[i].value), "replaced value", i);
      expect(inout[i].index == in[i].index, "replaced index", i);
    }
    // Bytes of neither member stay as they were.
    for (int i = 0; i < count * size.extent; ++i) {
      const int at = i % size.extent;
      const bool gap = (at >= size.first && at < size.second_offset) || at >= size.second_offset + size.second;
      if (!gap) continue;
      expect(reinterpret_cast<char*>(inout)[i] == 0x22, "gap", at);
    }
  }
}

template <class Value, class Index>
void check_pair(Basic value, Basic index) {
  SCOPED_TRACE(static_cast<int>(value));
  SCOPED_TRACE(static_cast<int>(index));
  check<Value, Index>(pair_kernel(Reduction::minloc, value, index), pair_kernel(Reduction::maxloc, value, index),
                      pair_kernel(Reduction::replace, value, index), pair_size(value, index));
}

template <class Value>
void check_value(Basic value) {
  check_pair<Value, int8_t>(value, Basic::int8);
  check_pair<Value, int16_t>(value, Basic::int16);
  check_pair<Value, int32_t>(value, Basic::int32);
  check_pair<Value, int64_t>(value, Basic::int64);
  check_pair<Value, Int128>(value, Basic::int128);
  check_pair<Value, uint8_t>(value, Basic::uint8);
  check_pair<Value, uint16_t>(value, Basic::uint16);
  check_pair<Value, uint32_t>(value, Basic::uint32);
  check_pair<Value, uint64_t>(value, Basic::uint64);
}

TEST(DatatypeReducePair, EveryValueWithEveryIndex) {
  check_value<int8_t>(Basic::int8);
  check_value<int16_t>(Basic::int16);
  check_value<int32_t>(Basic::int32);
  check_value<int64_t>(Basic::int64);
  check_value<Int128>(Basic::int128);
  check_value<uint8_t>(Basic::uint8);
  check_value<uint16_t>(Basic::uint16);
  check_value<uint32_t>(Basic::uint32);
  check_value<uint64_t>(Basic::uint64);
  check_value<Half>(Basic::float16);
  check_value<BrainHalf>(Basic::bfloat16);
  check_value<float>(Basic::float32);
  check_value<double>(Basic::float64);
  check_value<long double>(Basic::float80);
  check_value<Float128>(Basic::float128);
}

template <class Value, class Index>
void check_named(Basic basic) {
  SCOPED_TRACE(static_cast<int>(basic));
  check<Value, Index>(kernel(Reduction::minloc, basic), kernel(Reduction::maxloc, basic),
                      kernel(Reduction::replace, basic), basic_size(basic));
}

TEST(DatatypeReducePair, NamedPairs) {
  check_named<float, int>(Basic::float_int);
  check_named<double, int>(Basic::double_int);
  check_named<long, int>(Basic::long_int);
  check_named<int, int>(Basic::two_int);
  check_named<int, int>(Basic::two_fortran_int);
  check_named<short, int>(Basic::short_int);
  check_named<float, float>(Basic::two_float);
  check_named<double, double>(Basic::two_double);
  check_named<long double, int>(Basic::long_double_int);
}

TEST(DatatypeReducePair, SignsCount) {
  Pair<int8_t, int8_t> in{-1, -2}, inout{-1, 3};
  pair_kernel(Reduction::minloc, Basic::int8, Basic::int8)(&in, &inout, 1);
  EXPECT_EQ(inout.index, -2);
  inout = {1, 0};
  pair_kernel(Reduction::minloc, Basic::int8, Basic::int8)(&in, &inout, 1);
  EXPECT_EQ(inout.value, -1);
  inout = {1, 0};
  pair_kernel(Reduction::minloc, Basic::uint8, Basic::int8)(&in, &inout, 1);
  EXPECT_EQ(inout.value, 1) << "255 as unsigned";
  inout = {-1, 3};
  pair_kernel(Reduction::minloc, Basic::int8, Basic::uint8)(&in, &inout, 1);
  EXPECT_EQ(inout.index, 3) << "254 as unsigned";
}

// The first that is no number wins, whoever stands where, so the result does not depend on the order of ranks.
TEST(DatatypeReducePair, ANanIsBetterThanAnyNumber) {
  using P = Pair<double, int>;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (Reduction reduction : {Reduction::minloc, Reduction::maxloc}) {
    const Kernel locate = kernel(reduction, Basic::double_int);
    for (const auto& [a, b, wanted] : {std::tuple{P{nan, 5}, P{1, 2}, 5},
                                       {P{1, 2}, P{nan, 5}, 5},
                                       {P{nan, 5}, P{nan, 2}, 2},
                                       {P{nan, 2}, P{nan, 5}, 2}}) {
      P inout = b;
      locate(&a, &inout, 1);
      EXPECT_TRUE(std::isnan(inout.value));
      EXPECT_EQ(inout.index, wanted);
    }
  }
  // Zeros are equal whatever their sign.
  P in{-0.0, 4}, inout{0.0, 3};
  kernel(Reduction::minloc, Basic::double_int)(&in, &inout, 1);
  EXPECT_EQ(inout.index, 3);
}

TEST(DatatypeReducePair, OthersHaveNone) {
  EXPECT_EQ(pair_kernel(Reduction::sum, Basic::int32, Basic::int32), nullptr);
  EXPECT_EQ(pair_kernel(Reduction::minloc, Basic::complex64, Basic::int32), nullptr);
  EXPECT_EQ(pair_kernel(Reduction::minloc, Basic::logical32, Basic::int32), nullptr);
  EXPECT_EQ(pair_kernel(Reduction::minloc, Basic::float64, Basic::float32), nullptr);
  EXPECT_EQ(pair_kernel(Reduction::minloc, Basic::int32, Basic::none), nullptr);
}

TEST(DatatypeReducePair, ADatatypeSaysWhatItIsMadeOf) {
  Type type;
  type.pair_value = Basic::float64;
  type.pair_index = Basic::uint64;
  EXPECT_EQ(kernel(Reduction::minloc, type), nullptr) << "a copy is derived";
  type.predefined = true;
  EXPECT_EQ(kernel(Reduction::minloc, type), pair_kernel(Reduction::minloc, Basic::float64, Basic::uint64));
  EXPECT_EQ(kernel(Reduction::sum, type), nullptr);
}

}  // namespace
}  // namespace weft::datatype
