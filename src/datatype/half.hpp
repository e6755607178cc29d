// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The 16-bit floating types, which neither g++ 12 nor clang 14 has in C++: stored as bits, computed as float. One
// operation in float then rounded is the correctly rounded 16-bit result, because float has more than twice the bits.

#include <bit>
#include <cstdint>

namespace weft::datatype {

// IEEE 754 binary16.
struct Half {
  uint16_t bits = 0;

  Half() = default;
  explicit Half(float value) {
    constexpr float to_subnormal = 0.5F;  // its last bit is 2^-24, so adding it rounds to units of that
    const auto word = std::bit_cast<uint32_t>(value);
    const auto sign = static_cast<uint16_t>(word >> 16 & 0x8000U);
    const uint32_t magnitude = word & 0x7fffffffU;
    uint32_t half = 0;
    if (magnitude > 0x7f800000U) {
      half = 0x7e00U;  // not a number, made quiet
    } else if (magnitude >= 0x477ff000U) {
      half = 0x7c00U;  // rounds to 2^16 or beyond: infinity
    } else if (magnitude < 0x38800000U) {
      half = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + to_subnormal) -
             std::bit_cast<uint32_t>(to_subnormal);
    } else {
      half = (magnitude - 0x38000000U + 0xfffU + (magnitude >> 13 & 1U)) >> 13;  // to nearest, ties to even
    }
    bits = static_cast<uint16_t>(sign | half);
  }
  explicit operator float() const {
    const uint32_t sign = static_cast<uint32_t>(bits & 0x8000U) << 16;
    const uint32_t magnitude = bits & 0x7fffU;
    if (magnitude >= 0x7c00U) return std::bit_cast<float>(sign | 0x7f800000U | (magnitude & 0x3ffU) << 13);
    if (magnitude < 0x400U) {
      return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(static_cast<float>(magnitude) * 0x1p-24F));
    }
    return std::bit_cast<float>(sign | ((magnitude << 13) + 0x38000000U));
  }
};

// The upper half of a float.
struct BrainHalf {
  uint16_t bits = 0;

  BrainHalf() = default;
  explicit BrainHalf(float value) {
    const auto word = std::bit_cast<uint32_t>(value);
    const bool is_nan = (word & 0x7fffffffU) > 0x7f800000U;
    bits = static_cast<uint16_t>(is_nan ? word >> 16 | 0x40U : (word + 0x7fffU + (word >> 16 & 1U)) >> 16);
  }
  explicit operator float() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
};

}  // namespace weft::datatype
