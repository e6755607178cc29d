// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Predefined operations on two elements, a of `in` and b of `inout`. All are associative (but for rounding) and
// commutative, also where numbers are none (docs/design/operations.md), so a result does not depend on the order in
// which ranks were combined.

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "datatype/half.hpp"

namespace weft::datatype {

__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;
#if defined(__SIZEOF_FLOAT128__)
__extension__ using Float128 = __float128;
#else
using Float128 = long double;  // of as many bits where there is no other
static_assert(sizeof(Float128) == 16);
#endif

template <class T>
inline constexpr bool is_half = std::is_same_v<T, Half> || std::is_same_v<T, BrainHalf>;
template <class T>
inline constexpr bool is_integer = std::is_integral_v<T> || std::is_same_v<T, Int128>;

// Computes integers unsigned and at least 32 bits wide, so that overflow wraps; 16-bit floats as float.
template <class T>
constexpr auto wide(T value) {
  if constexpr (std::is_same_v<T, Int128>) {
    return static_cast<UInt128>(value);
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<decltype(0U + std::make_unsigned_t<T>{})>(value);
  } else if constexpr (is_half<T>) {
    return static_cast<float>(value);
  } else {
    return value;
  }
}

template <class T>
constexpr bool is_nan(T value) {
  if constexpr (is_integer<T>) {
    return false;
  } else {
    return wide(value) != wide(value);
  }
}

template <class T>
constexpr bool is_less(T a, T b) {
  if constexpr (is_half<T>) {
    return wide(a) < wide(b);
  } else {
    return a < b;
  }
}

template <class T>
struct Complex {
  T re;
  T im;
};

struct Sum {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(wide(a) + wide(b));
  }
};

struct Product {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(wide(a) * wide(b));
  }
  // The textbook product, as Fortran computes it: no detour for infinities.
  template <class T>
  static Complex<T> apply(Complex<T> a, Complex<T> b) {
    const auto re = wide(a.re) * wide(b.re) - wide(a.im) * wide(b.im);
    const auto im = wide(a.re) * wide(b.im) + wide(a.im) * wide(b.re);
    return {static_cast<T>(re), static_cast<T>(im)};
  }
};

template <class T>
constexpr T of_bits(uint16_t bits) {
  T value;
  value.bits = bits;
  return value;
}

// The bits of a 16-bit float as an integer that is ordered like the value, -0 below +0; a NaN gets `beyond`.
template <class T>
constexpr int16_t order_of(T value, int16_t beyond) {
  constexpr int16_t infinity = std::is_same_v<T, Half> ? 0x7c00 : 0x7f80;
  const auto magnitude = static_cast<int16_t>(value.bits & 0x7fff);
  const auto sign = static_cast<int16_t>(static_cast<int16_t>(value.bits) >> 15);
  const auto ordered = static_cast<int16_t>(value.bits ^ (sign & 0x7fff));
  return magnitude > infinity ? beyond : ordered;
}

// Minimum and maximum of floats are those of IEEE 754-2019: of a NaN and a number a NaN, and -0 is less than +0.
struct Minimum {
  template <class T>
  static T apply(T a, T b) {
    if constexpr (is_integer<T>) {
      return a < b ? a : b;
    } else if constexpr (is_half<T>) {
      constexpr int16_t least = std::numeric_limits<int16_t>::min();
      return of_bits<T>(order_of(a, least) < order_of(b, least) ? a.bits : b.bits);
    } else if constexpr (sizeof(T) <= 8) {
      // One comparison each way: they differ for zeros, of which one bit set is enough, and for a NaN, where one is it.
      using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
      return std::bit_cast<T>(std::bit_cast<Bits>(a < b ? a : b) | std::bit_cast<Bits>(b < a ? b : a));
    } else {
      if (is_nan(a) || a < b) return a;
      return a == b && __builtin_signbit(static_cast<double>(a)) ? a : b;
    }
  }
};

struct Maximum {
  template <class T>
  static T apply(T a, T b) {
    if constexpr (is_integer<T>) {
      return a > b ? a : b;
    } else if constexpr (is_half<T>) {
      constexpr int16_t most = std::numeric_limits<int16_t>::max();
      return of_bits<T>(order_of(a, most) > order_of(b, most) ? a.bits : b.bits);
    } else if constexpr (sizeof(T) <= 8) {
      using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
      const Bits larger = std::bit_cast<Bits>(a > b ? a : b) & std::bit_cast<Bits>(b > a ? b : a);
      return std::bit_cast<T>(__builtin_isunordered(a, b) ? ~Bits{0} : larger);
    } else {
      if (is_nan(a) || a > b) return a;
      return a == b && !__builtin_signbit(static_cast<double>(a)) ? a : b;
    }
  }
};

struct BitAnd {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(a & b);
  }
};

struct BitOr {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(a | b);
  }
};

struct BitXor {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};

// Any value but 0 is true, as in C; a result is 1 or 0.
struct LogicalAnd {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>((a != 0) & (b != 0));
  }
};

struct LogicalOr {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>((a | b) != 0);
  }
};

struct LogicalXor {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>((a != 0) != (b != 0));
  }
};

// The better value wins with its index, the lower index among equals. A NaN is better than any number, and all are
// equal; so are zeros.
template <bool least>
struct Locate {
  template <class Value, class Index>
  static bool wins(Value a, Index a_index, Value b, Index b_index) {
    const bool better = least ? is_less(a, b) : is_less(b, a);
    const bool worse = least ? is_less(b, a) : is_less(a, b);
    const bool a_none = is_nan(a);
    const bool b_none = is_nan(b);
    const bool equal = (!better & !worse & !a_none & !b_none) | (a_none & b_none);
    return better | (a_none & !b_none) | (equal & (a_index < b_index));
  }
};

}  // namespace weft::datatype
