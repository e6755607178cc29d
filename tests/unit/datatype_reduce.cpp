// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Reduction kernels against plain scalar code, at lengths around vector sizes and at any alignment.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "datatype/half.hpp"
#include "datatype/predefined.hpp"
#include "datatype/reduce.hpp"

namespace weft::datatype {
namespace {

__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;
__extension__ using Float128 = __float128;

using Random = std::mt19937_64;

// Runs the kernel on misaligned copies of `in` and `inout`, and checks the bytes behind them.
template <class T>
std::vector<T> run(Reduction reduction, Basic basic, const std::vector<T>& in, const std::vector<T>& inout) {
  const Kernel found = kernel(reduction, basic);
  EXPECT_NE(found, nullptr);
  const size_t bytes = in.size() * sizeof(T);
  std::vector<char> a(bytes + 33, 0x5a);
  std::vector<char> b(bytes + 33, 0x5a);
  std::vector<T> out = inout;
  if (!found || bytes == 0) return out;
  std::memcpy(a.data() + 1, static_cast<const void*>(in.data()), bytes);
  std::memcpy(b.data() + 1, static_cast<const void*>(inout.data()), bytes);
  found(a.data() + 1, b.data() + 1, static_cast<int64_t>(in.size()));
  EXPECT_EQ(b[0], 0x5a);
  for (size_t i = bytes + 1; i < b.size(); ++i) EXPECT_EQ(b[i], 0x5a) << "written behind the last element";
  std::memcpy(static_cast<void*>(out.data()), b.data() + 1, bytes);
  return out;
}

template <class T, class Make, class Reference>
void compare(Reduction reduction, Basic basic, Make make, Reference reference) {
  SCOPED_TRACE(static_cast<int>(basic));
  SCOPED_TRACE(static_cast<int>(reduction));
  for (size_t count : {0, 1, 2, 3, 7, 16, 33, 100, 257}) {
    std::vector<T> in(count);
    std::vector<T> inout(count);
    for (auto& value : in) value = make();
    for (auto& value : inout) value = make();
    const std::vector<T> out = run(reduction, basic, in, inout);
    for (size_t i = 0; i < count; ++i) {
      ASSERT_TRUE(out[i] == static_cast<T>(reference(in[i], inout[i]))) << "element " << i << " of " << count;
    }
  }
}

template <class T>
void check_bits(Basic basic, Random& random) {
  auto any = [&] { return static_cast<T>(random()); };
  compare<T>(Reduction::band, basic, any, [](T a, T b) { return a & b; });
  compare<T>(Reduction::bor, basic, any, [](T a, T b) { return a | b; });
  compare<T>(Reduction::bxor, basic, any, [](T a, T b) { return a ^ b; });
}

template <class T>
void check_logical(Basic basic, Random& random) {
  // Any value but 0 is true, also those that share no bit.
  auto truth = [&] { return static_cast<T>(random() % 2 ? T(1) << random() % (8 * sizeof(T) - 1) : 0); };
  compare<T>(Reduction::land, basic, truth, [](T a, T b) { return a && b; });
  compare<T>(Reduction::lor, basic, truth, [](T a, T b) { return a || b; });
  compare<T>(Reduction::lxor, basic, truth, [](T a, T b) { return !a != !b; });
}

template <class T>
void check_integer(Basic basic, Random& random) {
  auto any = [&] { return static_cast<T>(static_cast<UInt128>(random()) << (sizeof(T) > 8 ? 64 : 0) | random()); };
  compare<T>(Reduction::sum, basic, any, [](T a, T b) { return UInt128(a) + UInt128(b); });
  compare<T>(Reduction::prod, basic, any, [](T a, T b) { return UInt128(a) * UInt128(b); });
  compare<T>(Reduction::min, basic, any, [](T a, T b) { return a < b ? a : b; });
  compare<T>(Reduction::max, basic, any, [](T a, T b) { return a < b ? b : a; });
  check_bits<T>(basic, random);
  check_logical<T>(basic, random);
}

template <class T>
void check_floating(Basic basic, Random& random) {
  auto any = [&] { return static_cast<T>(static_cast<double>(static_cast<int64_t>(random())) * 0x1p-40); };
  compare<T>(Reduction::sum, basic, any, [](T a, T b) { return a + b; });
  compare<T>(Reduction::prod, basic, any, [](T a, T b) { return a * b; });
  compare<T>(Reduction::min, basic, any, [](T a, T b) { return a < b ? a : b; });
  compare<T>(Reduction::max, basic, any, [](T a, T b) { return a < b ? b : a; });
}

template <class T>
struct Parts {
  T re, im;
  bool operator==(const Parts& other) const { return re == other.re && im == other.im; }
};

// Whole numbers, so that the order of rounding does not matter.
template <class T>
void check_complex(Basic basic, Random& random) {
  using C = Parts<T>;
  auto part = [&] { return static_cast<T>(static_cast<int>(random() % 41) - 20); };
  auto any = [&] { return C{part(), part()}; };
  compare<C>(Reduction::sum, basic, any, [](C a, C b) { return C{a.re + b.re, a.im + b.im}; });
  compare<C>(Reduction::prod, basic, any, [](C a, C b) {
    return C{a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  });
}

TEST(DatatypeReduce, IntegersWrapAndKeepTheirSign) {
  Random random(1);
  check_integer<int8_t>(Basic::int8, random);
  check_integer<int16_t>(Basic::int16, random);
  check_integer<int32_t>(Basic::int32, random);
  check_integer<int64_t>(Basic::int64, random);
  check_integer<Int128>(Basic::int128, random);
  check_integer<uint8_t>(Basic::uint8, random);
  check_integer<uint16_t>(Basic::uint16, random);
  check_integer<uint32_t>(Basic::uint32, random);
  check_integer<uint64_t>(Basic::uint64, random);
}

TEST(DatatypeReduce, FloatingTypesOfEveryWidth) {
  Random random(2);
  check_floating<float>(Basic::float32, random);
  check_floating<double>(Basic::float64, random);
  check_floating<long double>(Basic::float80, random);
  check_floating<Float128>(Basic::float128, random);
}

TEST(DatatypeReduce, ComplexSumsAndProducts) {
  Random random(3);
  check_complex<float>(Basic::complex64, random);
  check_complex<double>(Basic::complex128, random);
  check_complex<long double>(Basic::complex160, random);
  check_complex<Float128>(Basic::complex256, random);
}

TEST(DatatypeReduce, LogicalAndByteTypes) {
  Random random(4);
  check_logical<uint8_t>(Basic::boolean, random);
  check_logical<uint8_t>(Basic::logical8, random);
  check_logical<uint16_t>(Basic::logical16, random);
  check_logical<uint32_t>(Basic::logical32, random);
  check_logical<uint64_t>(Basic::logical64, random);
  check_logical<Int128>(Basic::logical128, random);
  check_bits<uint8_t>(Basic::byte, random);
}

// ---- 16-bit floats

// The nearest 16-bit value by trying: bits from `low` up, whose values grow. Ties go to the even bits.
template <class T>
uint16_t nearest(double value, uint16_t infinity, double beyond) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  value = std::fabs(value);
  auto at = [&](uint32_t bits) {
    T half;
    half.bits = static_cast<uint16_t>(bits);
    return bits == infinity ? beyond : static_cast<double>(static_cast<float>(half));
  };
  uint32_t low = 0;
  uint32_t high = infinity;
  if (value >= beyond) return static_cast<uint16_t>(sign | infinity);
  while (high - low > 1) {
    const uint32_t middle = (low + high) / 2;
    (at(middle) <= value ? low : high) = middle;
  }
  const double down = value - at(low);
  const double up = at(high) - value;
  const bool rounds_up = up < down || (up == down && high % 2 == 0);
  return static_cast<uint16_t>(sign | (rounds_up ? high : low));
}

template <class T>
void check_half(Basic basic, uint16_t infinity, int top, double smallest) {
  const double beyond = std::ldexp(1.0, top);
  auto value_of = [](uint16_t bits) {
    T half;
    half.bits = bits;
    return static_cast<float>(half);
  };
  EXPECT_EQ(value_of(1), static_cast<float>(smallest));
  EXPECT_TRUE(std::isinf(value_of(infinity)));
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = value_of(static_cast<uint16_t>(bits));
    if ((bits & 0x7fff) > infinity) {
      ASSERT_TRUE(std::isnan(value));
      ASSERT_GT(T(value).bits & 0x7fff, infinity);
    } else {
      ASSERT_EQ(T(value).bits, bits);
    }
  }
  Random random(5);
  auto any = [&] { return static_cast<uint16_t>(random()); };
  auto rounded = [&](double value) { return nearest<T>(value, infinity, beyond); };
  for (int i = 0; i < 100000; ++i) {
    const auto value = std::bit_cast<float>(static_cast<uint32_t>(random()));
    if (std::isnan(value)) continue;
    ASSERT_EQ(T(value).bits, rounded(value)) << value;
  }
  auto finite = [&] {
    uint16_t bits = any();
    while ((bits & 0x7fff) >= infinity) bits = any();
    return bits;
  };
  compare<uint16_t>(Reduction::sum, basic, finite,
                    [&](uint16_t a, uint16_t b) { return T(value_of(a) + value_of(b)).bits; });
  compare<uint16_t>(Reduction::prod, basic, finite,
                    [&](uint16_t a, uint16_t b) { return T(value_of(a) * value_of(b)).bits; });
  compare<uint16_t>(Reduction::min, basic, finite,
                    [&](uint16_t a, uint16_t b) { return value_of(a) < value_of(b) ? a : b; });
  compare<uint16_t>(Reduction::max, basic, finite,
                    [&](uint16_t a, uint16_t b) { return value_of(a) > value_of(b) ? a : b; });
}

TEST(DatatypeReduce, HalvesRoundToNearestEven) {
  check_half<Half>(Basic::float16, 0x7c00, 16, 0x1p-24);
  check_half<BrainHalf>(Basic::bfloat16, 0x7f80, 128, 0x1p-133);
}

TEST(DatatypeReduce, ComplexOfHalves) {
  const std::vector<uint16_t> in = {Half(3).bits, Half(-2).bits};
  const std::vector<uint16_t> inout = {Half(5).bits, Half(7).bits};
  const Kernel product = kernel(Reduction::prod, Basic::complex32);
  ASSERT_NE(product, nullptr);
  std::vector<uint16_t> out = inout;
  product(in.data(), out.data(), 1);
  EXPECT_EQ(out[0], Half(29).bits);
  EXPECT_EQ(out[1], Half(11).bits);
}

// ---- pairs

template <class Value, class Index>
void check_pairs(Basic basic) {
  SCOPED_TRACE(static_cast<int>(basic));
  struct Pair {
    Value value;
    Index index;
  };
  Random random(6);
  for (bool least : {true, false}) {
    Pair in[100];
    Pair inout[100];
    Pair before[100];
    std::memset(static_cast<void*>(in), 0x11, sizeof in);
    std::memset(static_cast<void*>(inout), 0x22, sizeof inout);
    for (int i = 0; i < 100; ++i) {
      in[i].value = static_cast<Value>(static_cast<int>(random() % 5) - 2);
      inout[i].value = static_cast<Value>(static_cast<int>(random() % 5) - 2);
      in[i].index = static_cast<Index>(random() % 9);
      inout[i].index = static_cast<Index>(random() % 9);
    }
    std::memcpy(static_cast<void*>(before), inout, sizeof inout);
    const Kernel locate = kernel(least ? Reduction::minloc : Reduction::maxloc, basic);
    ASSERT_NE(locate, nullptr);
    locate(in, inout, 100);
    for (int i = 0; i < 100; ++i) {
      const bool equal = in[i].value == before[i].value;
      const bool better = least ? in[i].value < before[i].value : in[i].value > before[i].value;
      ASSERT_EQ(inout[i].value, better ? in[i].value : before[i].value);
      const Index index = equal ? std::min(in[i].index, before[i].index) : better ? in[i].index : before[i].index;
      ASSERT_EQ(inout[i].index, index);
    }
    const Kernel replace = kernel(Reduction::replace, basic);
    ASSERT_NE(replace, nullptr);
    replace(in, inout, 100);
    for (int i = 0; i < 100; ++i) {
      ASSERT_EQ(inout[i].value, in[i].value);
      ASSERT_EQ(inout[i].index, in[i].index);
    }
    // What belongs to neither member stays as it was.
    const BasicSize size = basic_size(basic);
    ASSERT_EQ(size.extent, static_cast<int>(sizeof(Pair)));
    for (int i = 0; i < 100 * size.extent; ++i) {
      const int at = i % size.extent;
      const bool gap = (at >= size.first && at < size.second_offset) || at >= size.second_offset + size.second;
      if (!gap) continue;
      ASSERT_EQ(reinterpret_cast<char*>(inout)[i], 0x22) << at;
    }
  }
}

TEST(DatatypeReduce, PairsFindValueAndLowestIndex) {
  check_pairs<float, int>(Basic::float_int);
  check_pairs<double, int>(Basic::double_int);
  check_pairs<long, int>(Basic::long_int);
  check_pairs<int, int>(Basic::two_int);
  check_pairs<int, int>(Basic::two_fortran_int);
  check_pairs<short, int>(Basic::short_int);
  check_pairs<float, float>(Basic::two_float);
  check_pairs<double, double>(Basic::two_double);
  check_pairs<long double, int>(Basic::long_double_int);
}

TEST(DatatypeReduce, ReplaceAndNoOpServeEveryPredefinedType) {
  for (const Predefined& row : predefined_types()) {
    SCOPED_TRACE(row.name);
    const Kernel replace = kernel(Reduction::replace, row.basic);
    const Kernel no_op = kernel(Reduction::no_op, row.basic);
    ASSERT_TRUE(replace && no_op);
    std::vector<char> in(static_cast<size_t>(5 * row.extent), 1);
    std::vector<char> inout(in.size(), 2);
    no_op(in.data(), inout.data(), 5);
    EXPECT_EQ(inout, std::vector<char>(in.size(), 2));
    replace(in.data(), inout.data(), 4);
    int64_t replaced = 0;
    for (char byte : inout) replaced += byte == 1;
    EXPECT_EQ(replaced, 4 * row.size);
  }
}

TEST(DatatypeReduce, AllowsWhatTheStandardAllows) {
  const std::string arithmetic = "sum min max prod ";
  const std::string bits = "band bor bxor ";
  const std::string logic = "land lor lxor ";
  auto allowed = [&](const std::string& name) -> std::string {
    auto has = [&](const char* part) { return name.find(part) != std::string::npos; };
    auto one_of = [&](std::initializer_list<const char*> names) {
      for (const char* one : names) {
        if (name == std::string("MPI_") + one) return true;
      }
      return false;
    };
    if (one_of({"CHAR", "WCHAR", "CHARACTER", "PACKED"})) return "";
    if (one_of({"BYTE"})) return bits;
    if (has("_INT") && !has("INT8_T") && !has("INT16_T") && !has("INT32_T") && !has("INT64_T") && !has("INTEGER") &&
        name != "MPI_INT") {
      return "minloc maxloc ";
    }
    if (one_of({"2INT", "2REAL", "2DOUBLE_PRECISION", "2INTEGER"})) return "minloc maxloc ";
    if (has("COMPLEX")) return "sum prod ";
    if (has("LOGICAL") || has("BOOL")) return logic;
    if (has("REAL") || has("FLOAT") || has("DOUBLE")) return arithmetic;
    return arithmetic + bits + logic;
  };
  const char* names[] = {"sum ",  "min ",  "max ", "prod ", "band ",   "bor ",
                         "bxor ", "land ", "lor ", "lxor ", "minloc ", "maxloc "};
  for (const Predefined& row : predefined_types()) {
    std::string found;
    for (size_t i = 0; i < std::size(names); ++i) {
      if (kernel(static_cast<Reduction>(i), row.basic)) found += names[i];
    }
    EXPECT_EQ(found, allowed(row.name)) << row.name;
  }
  for (int reduction = 0; reduction <= static_cast<int>(Reduction::no_op); ++reduction) {
    EXPECT_EQ(kernel(static_cast<Reduction>(reduction), Basic::none), nullptr);
  }
}

}  // namespace
}  // namespace weft::datatype
