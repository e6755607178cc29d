// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The 16-bit floating types, which neither g++ 12 nor clang 14 has in C++: stored as bits, computed as float. One
// operation in float then rounded is the correctly rounded 16-bit result, because float has more than twice the bits.

#include <bit>
#include <cstdint>

namespace weft::datatype {

// `a` or `b` without a branch. Conditional expressions would do, but g++ then moves the arithmetic into branches.
inline uint32_t choose(bool condition, uint32_t a, uint32_t b) {
  const uint32_t mask = 0U - static_cast<uint32_t>(condition);
  return (a & mask) | (b & ~mask);
}

// IEEE 754 binary16. The cases are computed side by side and then chosen, so that loops over it vectorise.
struct Half {
  uint16_t bits = 0;

  Half() = default;
  explicit Half(float value) {
    constexpr float to_subnormal = 0.5F;  // its last bit is 2^-24, so adding it rounds to units of that
    const auto word = std::bit_cast<uint32_t>(value);
    const uint32_t magnitude = word & 0x7fffffffU;
    const uint32_t normal = (magnitude - 0x38000000U + 0xfffU + (magnitude >> 13 & 1U)) >> 13;  // ties to even
    const float shifted = std::bit_cast<float>(magnitude) + to_subnormal;
    const uint32_t subnormal = std::bit_cast<uint32_t>(shifted) - std::bit_cast<uint32_t>(to_subnormal);
    uint32_t half = choose(magnitude < 0x38800000U, subnormal, normal);
    half = choose(magnitude >= 0x47800000U, 0x7c00U, half);  // 2^16 and beyond; rounding up to it carries to the same
    // A NaN keeps its upper bits, as in the processor's own conversion.
    half = choose(magnitude > 0x7f800000U, 0x7e00U | (magnitude >> 13 & 0x3ffU), half);
    bits = static_cast<uint16_t>((word >> 16 & 0x8000U) | half);
  }
  explicit operator float() const {
    const uint32_t sign = static_cast<uint32_t>(bits & 0x8000U) << 16;
    const uint32_t magnitude = bits & 0x7fffU;
    const auto subnormal = std::bit_cast<uint32_t>(static_cast<float>(static_cast<int32_t>(magnitude)) * 0x1p-24F);
    uint32_t word = (magnitude << 13) + 0x38000000U;
    word = choose(magnitude < 0x400U, subnormal, word);
    word = choose(magnitude >= 0x7c00U, 0x7f800000U | (magnitude & 0x3ffU) << 13, word);
    return std::bit_cast<float>(sign | word);
  }
};

// The upper half of a float.
struct BrainHalf {
  uint16_t bits = 0;

  BrainHalf() = default;
  explicit BrainHalf(float value) {
    const auto word = std::bit_cast<uint32_t>(value);
    const uint32_t rounded = (word + 0x7fffU + (word >> 16 & 1U)) >> 16;
    const uint32_t quiet = word >> 16 | 0x40U;
    bits = static_cast<uint16_t>(choose((word & 0x7fffffffU) > 0x7f800000U, quiet, rounded));
  }
  explicit operator float() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
};

}  // namespace weft::datatype
