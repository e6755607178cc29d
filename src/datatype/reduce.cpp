// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "datatype/reduce.hpp"

#include <cstring>
#include <type_traits>

#include "datatype/half.hpp"
#include "datatype/predefined.hpp"

// These loops are what -O3 is for; g++ does not vectorise them at -O2. (clang does.)
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

namespace weft::datatype {
namespace {

__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;
__extension__ using Float128 = __float128;

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

// Compares by value: integers keep their sign.
template <class T>
constexpr auto ordered(T value) {
  if constexpr (is_integer<T>) {
    return value;
  } else {
    return wide(value);
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
  template <class T>
  static Complex<T> apply(Complex<T> a, Complex<T> b) {
    return {apply(a.re, b.re), apply(a.im, b.im)};
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

struct Minimum {
  template <class T>
  static T apply(T a, T b) {
    return ordered(a) < ordered(b) ? a : b;
  }
};

struct Maximum {
  template <class T>
  static T apply(T a, T b) {
    return ordered(a) > ordered(b) ? a : b;
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

// Loads and stores through memcpy: the user's objects may have another type of the same kind, or be misaligned.
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

template <class T, class Operation>
[[gnu::always_inline]] inline void loop(const void* __restrict in, void* __restrict inout, int64_t count) {
  constexpr int64_t step = sizeof(T);
  for (int64_t i = 0; i < count; ++i) {
    store<T>(inout, i * step, Operation::apply(load<T>(in, i * step), load<T>(inout, i * step)));
  }
}

template <class T, class Operation>
void plain_loop(const void* __restrict in, void* __restrict inout, int64_t count) {
  loop<T, Operation>(in, inout, count);
}

#if defined(__x86_64__)
// The same for processors with 32-byte vectors. Results are the same to the bit: no fused operations.
template <class T, class Operation>
[[gnu::target("avx2")]] void avx2_loop(const void* __restrict in, void* __restrict inout, int64_t count) {
  loop<T, Operation>(in, inout, count);
}

template <class T, class Operation>
Kernel elementwise() {
  if (sizeof(T) > 8 && !std::is_same_v<T, Complex<double>>) return plain_loop<T, Operation>;  // no vector arithmetic
  return __builtin_cpu_supports("avx2") ? avx2_loop<T, Operation> : plain_loop<T, Operation>;
}
#else
template <class T, class Operation>
Kernel elementwise() {
  return plain_loop<T, Operation>;
}
#endif

// The better value wins with its index, the lower index among equals.
template <class Value, class Index, bool least>
void locate(const void* __restrict in, void* __restrict inout, int64_t count) {
  struct Pair {
    Value value;
    Index index;
  };
  constexpr int64_t step = sizeof(Pair);
  constexpr int64_t to_index = offsetof(Pair, index);
  for (int64_t at = 0; at < count * step; at += step) {
    const auto a = load<Value>(in, at);
    const auto b = load<Value>(inout, at);
    const auto a_index = load<Index>(in, at + to_index);
    const auto b_index = load<Index>(inout, at + to_index);
    const bool wins = (least ? a < b : a > b) || (a == b && a_index < b_index);
    store<Value>(inout, at, wins ? a : b);
    store<Index>(inout, at + to_index, wins ? a_index : b_index);
  }
}

template <int64_t bytes>
void replace(const void* __restrict in, void* __restrict inout, int64_t count) {
  std::memcpy(inout, in, static_cast<size_t>(count * bytes));
}

// A pair with gaps: its two elements alone.
template <int64_t first, int64_t second, int64_t offset, int64_t extent>
void replace_pair(const void* __restrict in, void* __restrict inout, int64_t count) {
  const char* from = static_cast<const char*>(in);
  char* to = static_cast<char*>(inout);
  for (int64_t i = 0; i < count; ++i, from += extent, to += extent) {
    std::memcpy(to, from, first);
    std::memcpy(to + offset, from + offset, second);
  }
}

void nothing(const void* /*in*/, void* /*inout*/, int64_t /*count*/) {}

// ---- which operations a class of types has

template <class T>
Kernel bitwise(Reduction reduction) {
  switch (reduction) {
    case Reduction::band:
      return elementwise<T, BitAnd>();
    case Reduction::bor:
      return elementwise<T, BitOr>();
    case Reduction::bxor:
      return elementwise<T, BitXor>();
    default:
      return nullptr;
  }
}

template <class T>
Kernel logical(Reduction reduction) {
  switch (reduction) {
    case Reduction::land:
      return elementwise<T, LogicalAnd>();
    case Reduction::lor:
      return elementwise<T, LogicalOr>();
    case Reduction::lxor:
      return elementwise<T, LogicalXor>();
    default:
      return nullptr;
  }
}

template <class T>
Kernel additive(Reduction reduction) {
  switch (reduction) {
    case Reduction::sum:
      return elementwise<T, Sum>();
    case Reduction::prod:
      return elementwise<T, Product>();
    default:
      return nullptr;
  }
}

template <class T>
Kernel floating(Reduction reduction) {
  switch (reduction) {
    case Reduction::min:
      return elementwise<T, Minimum>();
    case Reduction::max:
      return elementwise<T, Maximum>();
    default:
      return additive<T>(reduction);
  }
}

// Where the sign does not matter the kernels of the unsigned type serve.
template <class T, class Unsigned>
Kernel integer(Reduction reduction) {
  if (reduction == Reduction::min) return elementwise<T, Minimum>();
  if (reduction == Reduction::max) return elementwise<T, Maximum>();
  if (Kernel found = additive<Unsigned>(reduction)) return found;
  if (Kernel found = bitwise<Unsigned>(reduction)) return found;
  return logical<Unsigned>(reduction);
}

template <class Value, class Index>
Kernel pair(Reduction reduction) {
  switch (reduction) {
    case Reduction::minloc:
      return locate<Value, Index, true>;
    case Reduction::maxloc:
      return locate<Value, Index, false>;
    default:
      return nullptr;
  }
}

Kernel replacement(Basic basic) {
  switch (basic) {
    case Basic::double_int:
    case Basic::long_int:
      return replace_pair<8, 4, 8, 16>;
    case Basic::short_int:
      return replace_pair<2, 4, 4, 8>;
    case Basic::long_double_int:
      return replace_pair<16, 4, 16, 32>;
    default:
      break;
  }
  switch (basic_size(basic).extent) {
    case 1:
      return replace<1>;
    case 2:
      return replace<2>;
    case 4:
      return replace<4>;
    case 8:
      return replace<8>;
    case 16:
      return replace<16>;
    case 32:
      return replace<32>;
    default:
      return nullptr;
  }
}

}  // namespace

Kernel kernel(Reduction reduction, Basic basic) {
  if (basic == Basic::none) return nullptr;
  if (reduction == Reduction::no_op) return nothing;
  if (reduction == Reduction::replace) return replacement(basic);
  switch (basic) {
    case Basic::int8:
      return integer<int8_t, uint8_t>(reduction);
    case Basic::int16:
      return integer<int16_t, uint16_t>(reduction);
    case Basic::int32:
      return integer<int32_t, uint32_t>(reduction);
    case Basic::int64:
      return integer<int64_t, uint64_t>(reduction);
    case Basic::int128:
      return integer<Int128, Int128>(reduction);
    case Basic::uint8:
      return integer<uint8_t, uint8_t>(reduction);
    case Basic::uint16:
      return integer<uint16_t, uint16_t>(reduction);
    case Basic::uint32:
      return integer<uint32_t, uint32_t>(reduction);
    case Basic::uint64:
      return integer<uint64_t, uint64_t>(reduction);
    case Basic::float16:
      return floating<Half>(reduction);
    case Basic::bfloat16:
      return floating<BrainHalf>(reduction);
    case Basic::float32:
      return floating<float>(reduction);
    case Basic::float64:
      return floating<double>(reduction);
    case Basic::float80:
      return floating<long double>(reduction);
    case Basic::float128:
      return floating<Float128>(reduction);
    case Basic::complex32:
      return additive<Complex<Half>>(reduction);
    case Basic::complex64:
      return additive<Complex<float>>(reduction);
    case Basic::complex128:
      return additive<Complex<double>>(reduction);
    case Basic::complex160:
      return additive<Complex<long double>>(reduction);
    case Basic::complex256:
      return additive<Complex<Float128>>(reduction);
    case Basic::boolean:
    case Basic::logical8:
      return logical<uint8_t>(reduction);
    case Basic::logical16:
      return logical<uint16_t>(reduction);
    case Basic::logical32:
      return logical<uint32_t>(reduction);
    case Basic::logical64:
      return logical<uint64_t>(reduction);
    case Basic::logical128:
      return logical<Int128>(reduction);
    case Basic::byte:
      return bitwise<uint8_t>(reduction);
    case Basic::float_int:
      return pair<float, int32_t>(reduction);
    case Basic::double_int:
      return pair<double, int32_t>(reduction);
    case Basic::long_int:
      return pair<int64_t, int32_t>(reduction);
    case Basic::two_int:
    case Basic::two_fortran_int:
      return pair<int32_t, int32_t>(reduction);
    case Basic::short_int:
      return pair<int16_t, int32_t>(reduction);
    case Basic::long_double_int:
      return pair<long double, int32_t>(reduction);
    case Basic::two_float:
      return pair<float, float>(reduction);
    case Basic::two_double:
      return pair<double, double>(reduction);
    default:
      return nullptr;
  }
}

}  // namespace weft::datatype
