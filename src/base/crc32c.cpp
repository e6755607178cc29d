// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "base/crc32c.hpp"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#define WEFT_CRC_TARGET __attribute__((target("sse4.2,crc32")))
#elif defined(__aarch64__)
#include <arm_acle.h>
#include <sys/auxv.h>
#if defined(__clang__)
#define WEFT_CRC_TARGET __attribute__((target("crc")))
#else
#define WEFT_CRC_TARGET __attribute__((target("+crc")))
#endif
#endif

namespace weft::base {
namespace {

// Polynomials over the field of two elements, the coefficient of x^31 in the lowest bit.
constexpr uint32_t crc_polynomial = 0x82f63b78;

constexpr uint32_t times_x(uint32_t p) {
  return p >> 1 ^ (crc_polynomial & (0 - (p & 1)));
}

// For each byte, what eight zero bits behind it make of it.
constexpr auto byte_table = [] {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    table[byte] = byte;
    for (int bit = 0; bit < 8; ++bit) table[byte] = times_x(table[byte]);
  }
  return table;
}();

uint32_t update_by_table(uint32_t crc, const unsigned char* data, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) crc = crc >> 8 ^ byte_table[(crc ^ data[i]) & 0xff];
  return crc;
}

#ifdef WEFT_CRC_TARGET

// The sums that remain of the values of each byte of a sum when so many zero bytes come behind it. The sum is linear:
// that of two pieces is the first one's with zeros behind it, exclusive or the second one's.
using Shift = std::array<std::array<uint32_t, 256>, 4>;
template <size_t bytes>
constexpr Shift shift_table() {
  std::array<uint32_t, 32> of_bit{};
  for (uint32_t bit = 0; bit < 32; ++bit) {
    uint32_t sum = 1u << bit;
    for (size_t i = 0; i < bytes; ++i) sum = sum >> 8 ^ byte_table[sum & 0xff];
    of_bit[bit] = sum;
  }
  Shift table{};
  for (uint32_t place = 0; place < 4; ++place) {
    for (uint32_t byte = 0; byte < 256; ++byte) {
      for (uint32_t bit = 0; bit < 8; ++bit) {
        if ((byte >> bit & 1) != 0) table[place][byte] ^= of_bit[8 * place + bit];
      }
    }
  }
  return table;
}

uint32_t shifted(const Shift& by, uint32_t sum) {
  return by[0][sum & 0xff] ^ by[1][sum >> 8 & 0xff] ^ by[2][sum >> 16 & 0xff] ^ by[3][sum >> 24];
}

uint64_t word_at(const unsigned char* data) {
  uint64_t word = 0;
  std::memcpy(&word, data, sizeof word);
  return word;
}

#if defined(__x86_64__)
WEFT_CRC_TARGET inline uint32_t update_word(uint32_t crc, uint64_t word) {
  return static_cast<uint32_t>(_mm_crc32_u64(crc, word));
}
WEFT_CRC_TARGET inline uint32_t update_byte(uint32_t crc, unsigned char byte) {
  return _mm_crc32_u8(crc, byte);
}
bool has_instruction() {
  return __builtin_cpu_supports("sse4.2") != 0;
}
#else
WEFT_CRC_TARGET inline uint32_t update_word(uint32_t crc, uint64_t word) {
  return __crc32cd(crc, word);
}
WEFT_CRC_TARGET inline uint32_t update_byte(uint32_t crc, unsigned char byte) {
  return __crc32cb(crc, byte);
}
bool has_instruction() {
  constexpr unsigned long hwcap_crc32 = 1 << 7;  // asm/hwcap.h
  return (getauxval(AT_HWCAP) & hwcap_crc32) != 0;
}
#endif

// The instruction takes three cycles and can begin in each: three pieces at a time.
template <size_t piece>
WEFT_CRC_TARGET uint32_t update_threefold(uint32_t crc, const unsigned char*& data, size_t& bytes) {
  static constexpr Shift by = shift_table<piece>();
  for (; bytes >= 3 * piece; data += 3 * piece, bytes -= 3 * piece) {
    uint32_t second = 0, third = 0;
    for (size_t i = 0; i < piece; i += 8) {
      crc = update_word(crc, word_at(data + i));
      second = update_word(second, word_at(data + piece + i));
      third = update_word(third, word_at(data + 2 * piece + i));
    }
    crc = shifted(by, shifted(by, crc) ^ second) ^ third;
  }
  return crc;
}

WEFT_CRC_TARGET uint32_t update_by_instruction(uint32_t crc, const unsigned char* data, size_t bytes) {
  crc = update_threefold<2048>(crc, data, bytes);
  crc = update_threefold<128>(crc, data, bytes);
  for (; bytes >= 8; data += 8, bytes -= 8) crc = update_word(crc, word_at(data));
  for (; bytes != 0; ++data, --bytes) crc = update_byte(crc, *data);
  return crc;
}

#endif

}  // namespace

uint32_t crc32c(const void* data, size_t bytes) {
#ifdef WEFT_CRC_TARGET
  static const bool by_instruction = has_instruction();
  if (by_instruction) return ~update_by_instruction(~0u, static_cast<const unsigned char*>(data), bytes);
#endif
  return crc32c_by_table(data, bytes);
}

uint32_t crc32c_by_table(const void* data, size_t bytes) {
  return ~update_by_table(~0u, static_cast<const unsigned char*>(data), bytes);
}

}  // namespace weft::base
