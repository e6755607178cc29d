// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// external32: long doubles, which on x86 are not binary128 already, against the compiler's own binary128, both ways,
// and integers that do not fit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "datatype/external32.hpp"
#include "datatype/predefined.hpp"

namespace weft::datatype {
namespace {

#if defined(__SIZEOF_FLOAT128__)
__extension__ typedef __float128 Quad;
#else
typedef long double Quad;
#endif

struct Bytes16 {
  unsigned char byte[16] = {};
  bool operator==(const Bytes16&) const = default;
};

template <class T>
Bytes16 big_endian(T value) {
  Bytes16 bytes;
  std::memcpy(bytes.byte, &value, sizeof value);
  std::reverse(bytes.byte, bytes.byte + sizeof value);
  return bytes;
}

const External32 extended = external32_of(Basic::float80, false);

Bytes16 to_outside(long double value) {
  Bytes16 outside;
  EXPECT_TRUE(to_external32(extended, reinterpret_cast<const char*>(&value), reinterpret_cast<char*>(outside.byte), 1));
  return outside;
}

long double to_inside(const Bytes16& outside) {
  long double value = 0;
  from_external32(extended, reinterpret_cast<const char*>(outside.byte), reinterpret_cast<char*>(&value), 1);
  return value;
}

void expect_same(long double value) {
  EXPECT_EQ(to_outside(value), big_endian(static_cast<Quad>(value))) << value;
  EXPECT_EQ(to_inside(to_outside(value)), value);
  EXPECT_EQ(std::signbit(to_inside(to_outside(value))), std::signbit(value)) << value;
}

TEST(External32, ExtendedValuesBecomeBinary128) {
  using Limits = std::numeric_limits<long double>;
  for (long double value : {0.0L, 1.0L, 1.0L / 3, Limits::max(), Limits::min(), Limits::denorm_min(),
                            Limits::min() - Limits::denorm_min(), Limits::infinity()}) {
    expect_same(value);
    expect_same(-value);
  }
  EXPECT_TRUE(std::isnan(to_inside(to_outside(Limits::quiet_NaN()))));
  std::mt19937_64 random(1);
  for (int i = 0; i < 100000; ++i) {
    const auto fraction = static_cast<long double>(random()) + 1;
    expect_same(std::ldexp(fraction, static_cast<int>(random() % 32000) - 16400));
  }
}

// binary128 has 49 bits more: the nearest value, ties to even, as the compiler rounds.
TEST(External32, Binary128IsRounded) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 200000; ++i) {
    Bytes16 outside;
    for (unsigned char& byte : outside.byte) byte = static_cast<unsigned char>(random());
    if (i % 3 == 0) std::fill(outside.byte + 9, outside.byte + 16, static_cast<unsigned char>(0));    // often a tie
    if (i % 5 == 0) std::fill(outside.byte + 2, outside.byte + 10, static_cast<unsigned char>(255));  // carries far
    if (i % 7 == 0) outside.byte[0] = outside.byte[1] = 0;                                            // subnormal
    if (i % 11 == 0) outside.byte[0] = 0x7f, outside.byte[1] = static_cast<unsigned char>(0xfe + i % 2);
    Bytes16 native = outside;
    std::reverse(native.byte, native.byte + 16);
    Quad exact;
    std::memcpy(&exact, &native, sizeof exact);
    const auto wanted = static_cast<long double>(exact);
    const long double found = to_inside(outside);
    if (std::isnan(wanted)) {
      EXPECT_TRUE(std::isnan(found));
    } else {
      EXPECT_EQ(std::memcmp(&found, &wanted, LDBL_MANT_DIG == 64 ? 10 : 16), 0) << found << " is not " << wanted;
    }
  }
}

TEST(External32, IntegersThatDoNotFitAreFound) {
  const External32 number = external32_of(Basic::int64, true), positive = external32_of(Basic::uint64, true),
                   letter = external32_of(Basic::wide_char, false);
  char out[64];
  const auto fits = [&](const External32& form, auto value) {
    return to_external32(form, reinterpret_cast<const char*>(&value), out, 1);
  };
  EXPECT_TRUE(fits(number, int64_t{INT32_MAX}));
  EXPECT_TRUE(fits(number, int64_t{INT32_MIN}));
  EXPECT_FALSE(fits(number, int64_t{INT32_MAX} + 1));
  EXPECT_FALSE(fits(number, int64_t{INT32_MIN} - 1));
  EXPECT_TRUE(fits(positive, uint64_t{UINT32_MAX}));
  EXPECT_FALSE(fits(positive, uint64_t{UINT32_MAX} + 1));
  EXPECT_TRUE(fits(letter, uint32_t{0xffff}));
  EXPECT_FALSE(fits(letter, uint32_t{0x10000}));
  const int64_t many[] = {1, 2, int64_t{1} << 40};
  EXPECT_TRUE(to_external32(number, reinterpret_cast<const char*>(many), out, 2));
  EXPECT_FALSE(to_external32(number, reinterpret_cast<const char*>(many), out, 3));
}

// Small values survive the way out and back whatever the type, several at once.
TEST(External32, AllBasicsComeBack) {
  for (const Predefined& row : predefined_types()) {
    for (bool c_long : {false, true}) {
      const External32 form = external32_of(row.basic, c_long);
      ASSERT_EQ(form.native_size(), row.size) << row.name;
      ASSERT_LE(form.external_size(), row.size) << row.name;
      constexpr int64_t count = 5;
      const auto bytes = static_cast<size_t>(row.size * count);
      std::vector<char> values(bytes), outside(bytes), back(bytes, 'x');
      for (size_t i = 0; i < bytes; i += static_cast<size_t>(row.size)) values[i] = static_cast<char>(i % 2);
      // The x87 formats: only what has a meaning comes back.
      const long double number = 1.5L;
      for (size_t i = 0; i < bytes && form.first.conversion == Conversion::extended;
           i += static_cast<size_t>(row.size)) {
        std::memset(&values[i], 0, static_cast<size_t>(row.size));
        std::memcpy(&values[i], &number, 10);
      }
      EXPECT_TRUE(to_external32(form, values.data(), outside.data(), count)) << row.name;
      from_external32(form, outside.data(), back.data(), count);
      EXPECT_EQ(back, values) << row.name;
    }
  }
}

}  // namespace
}  // namespace weft::datatype
