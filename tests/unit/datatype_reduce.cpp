// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Reduction kernels against plain scalar code, at lengths around vector sizes and at any alignment.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "datatype/half.hpp"
#include "datatype/predefined.hpp"
#include "datatype/reduce.hpp"

namespace weft::datatype {
namespace {

__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;
#if defined(__SIZEOF_FLOAT128__)
__extension__ using Float128 = __float128;
#else
using Float128 = long double;
#endif

using Random = std::mt19937_64;

// Runs a kernel on misaligned copies of `in` and `inout`, and checks the bytes behind them.
template <class T>
std::vector<T> run(Kernel found, const std::vector<T>& in, const std::vector<T>& inout) {
  const size_t bytes = in.size() * sizeof(T);
  std::vector<char> a(bytes + 33, 0x5a);
  std::vector<char> b(bytes + 33, 0x5a);
  std::vector<T> out = inout;
  if (bytes == 0) return out;
  std::memcpy(a.data() + 1, static_cast<const void*>(in.data()), bytes);
  std::memcpy(b.data() + 1, static_cast<const void*>(inout.data()), bytes);
  found(a.data() + 1, b.data() + 1, static_cast<int64_t>(in.size()));
  EXPECT_EQ(b[0], 0x5a);
  for (size_t i = bytes + 1; i < b.size(); ++i) EXPECT_EQ(b[i], 0x5a) << "written behind the last element";
  std::memcpy(static_cast<void*>(out.data()), b.data() + 1, bytes);
  return out;
}

// The kernels of one operation on one type, for all vectors this processor has.
std::vector<Kernel> kernels_of(Reduction reduction, Basic basic) {
  std::vector<Kernel> kernels;
  for (Vectors use : {Vectors::baseline, Vectors::avx2, Vectors::avx512}) {
    if (use > vectors()) break;
    kernels.push_back(kernel(reduction, basic, use));
    EXPECT_NE(kernels.back(), nullptr);
  }
  return kernels;
}

// For what there are many of: compiled once, and not where it is asked.
[[gnu::noinline]] void differs(size_t i, size_t count) {
  ADD_FAILURE() << "element " << i << " of " << count;
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
    for (const Kernel each : kernels_of(reduction, basic)) {
      const std::vector<T> out = run(each, in, inout);
      for (size_t i = 0; i < count; ++i) {
        if (!(out[i] == static_cast<T>(reference(in[i], inout[i])))) return differs(i, count);
      }
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

// With fractions: a product and a sum fused into one operation would round differently.
template <class T>
void check_complex(Basic basic, Random& random) {
  using C = Parts<T>;
  auto part = [&] { return static_cast<T>(static_cast<int>(random() % 4001) - 2000) / 7; };
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

// ---- numbers that are none, and zeros

template <class T>
double to_double(T value) {
  return static_cast<double>(value);
}
double to_double(Half value) {
  return static_cast<float>(value);
}
double to_double(BrainHalf value) {
  return static_cast<float>(value);
}

template <class T>
struct Special {
  T value;
  bool is_nan, is_negative;
  int rank;  // in the order of minimum and maximum
};

// Every special value with every other, in both places, at all lengths up to a few vectors.
template <class T, class Make>
void check_special(Basic basic, Make make) {
  SCOPED_TRACE(static_cast<int>(basic));
  const double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<Special<T>> all = {
      {make(-infinity), false, true, 0}, {make(-1.5), false, true, 1}, {make(-0.0), false, true, 2},
      {make(0.0), false, false, 3},      {make(1.5), false, false, 4}, {make(infinity), false, false, 5},
      {make(nan), true, false, 6},       {make(-nan), true, true, 7},
  };
  for (const bool least : {true, false}) {
    for (const Kernel each : kernels_of(least ? Reduction::min : Reduction::max, basic)) {
      for (size_t count = 1; count <= 70; ++count) {
        std::vector<T> in, inout;
        std::vector<std::pair<Special<T>, Special<T>>> pairs;
        for (size_t i = 0; i < count; ++i) {
          pairs.emplace_back(all[(i + count) % 8], all[(i + count) / 8 % 8]);
          in.push_back(pairs.back().first.value);
          inout.push_back(pairs.back().second.value);
        }
        const std::vector<T> out = run(each, in, inout);
        for (size_t i = 0; i < count; ++i) {
          const auto& [a, b] = pairs[i];
          const double got = to_double(out[i]);
          ASSERT_EQ(std::isnan(got), a.is_nan || b.is_nan) << a.rank << " and " << b.rank;
          if (a.is_nan || b.is_nan) continue;
          const Special<T>& wanted = (a.rank < b.rank) == least ? a : b;
          ASSERT_EQ(got, to_double(wanted.value)) << a.rank << " and " << b.rank;
          ASSERT_EQ(std::signbit(got), wanted.is_negative) << a.rank << " and " << b.rank;
        }
      }
    }
  }
}

TEST(DatatypeReduce, MinimumAndMaximumSeeNansAndTheSignOfZero) {
  check_special<float>(Basic::float32, [](double v) { return static_cast<float>(v); });
  check_special<double>(Basic::float64, [](double v) { return v; });
  check_special<long double>(Basic::float80, [](double v) { return static_cast<long double>(v); });
  check_special<Float128>(Basic::float128, [](double v) { return static_cast<Float128>(v); });
  check_special<Half>(Basic::float16, [](double v) { return Half(static_cast<float>(v)); });
  check_special<BrainHalf>(Basic::bfloat16, [](double v) { return BrainHalf(static_cast<float>(v)); });
}

// Sums and products of anything, also of what is no number: the vectors make no difference.
TEST(DatatypeReduce, HalvesAreTheSameWithAllVectors) {
  Random random(9);
  std::vector<uint16_t> in(100003), inout(in.size());
  for (auto& bits : in) bits = static_cast<uint16_t>(random());
  for (auto& bits : inout) bits = static_cast<uint16_t>(random());
  for (Reduction reduction : {Reduction::sum, Reduction::prod, Reduction::min, Reduction::max}) {
    const std::vector<Kernel> kernels = kernels_of(reduction, Basic::float16);
    const std::vector<uint16_t> wanted = run(kernels[0], in, inout);
    for (const Kernel each : kernels) {
      const std::vector<uint16_t> out = run(each, in, inout);
      for (size_t i = 0; i < out.size(); ++i) {
        const bool nan = (wanted[i] & 0x7fff) > 0x7c00;
        ASSERT_TRUE(nan ? (out[i] & 0x7fff) > 0x7c00 : out[i] == wanted[i]) << in[i] << " and " << inout[i];
      }
    }
  }
}

TEST(DatatypeReduce, ComplexSumsAndProducts) {
  Random random(3);
  check_complex<float>(Basic::complex64, random);
  check_complex<double>(Basic::complex128, random);
  check_complex<long double>(Basic::complex160, random);
  check_complex<Float128>(Basic::complex256, random);
}

TEST(DatatypeReduce, LogicalByteAndCharacterTypes) {
  Random random(4);
  check_integer<char>(Basic::character, random);
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

// ---- which operation on which type

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
    // A long double has 16 bytes, and 10 of them are its value.
    const int64_t unused = row.basic == Basic::long_double_int ? 6 : 0;
    EXPECT_GE(replaced, 4 * (row.size - unused));
    EXPECT_LE(replaced, 4 * row.size);
  }
}

TEST(DatatypeReduce, AllowsWhatTheStandardAllowsAndCharacters) {
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
    if (one_of({"WCHAR", "PACKED"})) return "";
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
