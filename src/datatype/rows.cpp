// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "datatype/rows.hpp"

#include <array>
#include <atomic>
#include <type_traits>
#include <utility>

namespace weft::datatype {
namespace {

using Vector32 = uint64_t __attribute__((vector_size(32)));

#if defined(__x86_64__)
#define WEFT_AVX2 __attribute__((target("avx2")))
#else
#define WEFT_AVX2
#endif

// A row of blocks of one unit. Loads of one instruction that are a line apart or more are fetched ahead by processors,
// which an unrolled loop, whose instructions load further apart, undoes: packing the last face of a cube of 128 doubles
// moves 6.7 instead of 3.6 GB/s (bench/pack.c, pack_face_xy). Closer ones are sooner done unrolled.
template <Direction direction, class Unit, class Places>
inline __attribute__((always_inline)) char* move_row(Places& places, char* packed) {
  constexpr int64_t line = 64;
  if constexpr (direction == Direction::pack && std::is_same_v<Places, Strided>) {
    if (places.stride >= line || places.stride <= -line) {
#pragma GCC unroll 1
      for (int64_t i = 0; i < places.count; ++i, packed += sizeof(Unit)) {
        move_units<direction, Unit, 1>(places.next(), packed, sizeof(Unit));
      }
      return packed;
    }
  }
#pragma GCC unroll 4
  for (int64_t i = 0; i < places.count; ++i, packed += sizeof(Unit)) {
    move_units<direction, Unit, 1>(places.next(), packed, sizeof(Unit));
  }
  return packed;
}

template <Direction direction, class Places, class Unit, int units>
void move_blocks(Places places, int64_t block, char* packed) {
  for (int64_t row = 0; row < places.rows; ++row, places.next_row()) {
    if constexpr (units == 1) {
      packed = move_row<direction, Unit>(places, packed);
    } else {
      for (int64_t i = 0; i < places.count; ++i, packed += block) {
        move_units<direction, Unit, units>(places.next(), packed, block);
      }
    }
  }
}

// Moves blocks with the wider registers that not every processor has.
template <Direction direction, class Places, int units>
WEFT_AVX2 void move_wide_blocks(Places places, int64_t block, char* packed) {
  for (int64_t row = 0; row < places.rows; ++row, places.next_row()) {
    if constexpr (units == 1) {
      packed = move_row<direction, Vector32>(places, packed);
    } else {
      for (int64_t i = 0; i < places.count; ++i, packed += block) {
        move_units<direction, Vector32, units>(places.next(), packed, block);
      }
    }
  }
}

template <Direction direction, class Places>
void move_large_blocks(Places places, int64_t block, char* packed) {
  for (int64_t row = 0; row < places.rows; ++row, places.next_row()) {
    for (int64_t i = 0; i < places.count; ++i, packed += block) move<direction>(places.next(), packed, block);
  }
}

// Moves at least 128 bytes.
template <Direction direction>
WEFT_AVX2 inline __attribute__((always_inline)) void move_wide(char* at, char* packed, int64_t bytes) {
  const int64_t last = bytes - 128;
  for (int64_t k = 0; k < last; k += 128) move_units<direction, Vector32, 4>(at + k, packed + k, 128);
  move_units<direction, Vector32, 4>(at + last, packed + last, 128);
}

// Above 256 bytes; a call of memcpy for each is worth it from about 1 KiB on.
template <Direction direction, class Places>
WEFT_AVX2 void move_wider_blocks(Places places, int64_t block, char* packed) {
  for (int64_t row = 0; row < places.rows; ++row, places.next_row()) {
    for (int64_t i = 0; i < places.count; ++i, packed += block) move_wide<direction>(places.next(), packed, block);
  }
}

// Kernels for 2, 3, ... units in a block.
template <Direction direction, class Places, int... more>
constexpr auto narrow_kernels(std::integer_sequence<int, more...> /*more*/) {
  return std::array<RowKernel<Places>, sizeof...(more)>{move_blocks<direction, Places, Vector16, more + 2>...};
}
template <Direction direction, class Places, int... more>
constexpr auto wide_kernels(std::integer_sequence<int, more...> /*more*/) {
  return std::array<RowKernel<Places>, sizeof...(more)>{move_wide_blocks<direction, Places, more + 2>...};
}

}  // namespace

bool has_wide_registers() {
#if defined(__x86_64__)
  static std::atomic<int> known = -1;
  int has = known.load(std::memory_order_relaxed);
  if (has < 0) {
    __builtin_cpu_init();
    has = __builtin_cpu_supports("avx2") != 0;
    known.store(has, std::memory_order_relaxed);
  }
  return has != 0;
#else
  return false;
#endif
}

template <Direction direction, class Places>
RowKernel<Places> kernel_for(int64_t block, bool wide) {
  static constexpr auto narrow_units = narrow_kernels<direction, Places>(std::make_integer_sequence<int, 7>());
  static constexpr auto wide_units = wide_kernels<direction, Places>(std::make_integer_sequence<int, 7>());
  switch (block) {
    case 1:
      return move_blocks<direction, Places, uint8_t, 1>;
    case 2:
      return move_blocks<direction, Places, uint16_t, 1>;
    case 4:
      return move_blocks<direction, Places, uint32_t, 1>;
    case 8:
      return move_blocks<direction, Places, uint64_t, 1>;
    case 16:
      return move_blocks<direction, Places, Vector16, 1>;
    default:
      break;
  }
  if (block < 4) return move_blocks<direction, Places, uint16_t, 2>;
  if (block < 8) return move_blocks<direction, Places, uint32_t, 2>;
  if (block < 16) return move_blocks<direction, Places, uint64_t, 2>;
  if (wide && block == 32) return move_wide_blocks<direction, Places, 1>;
  if (wide && block > 32 && block <= 256) return wide_units[static_cast<size_t>((block - 33) / 32)];
  if (wide && block > 256 && block <= 512) return move_wider_blocks<direction, Places>;
  if (block <= 128) return narrow_units[static_cast<size_t>((block - 17) / 16)];
  return move_large_blocks<direction, Places>;
}

template RowKernel<Strided> kernel_for<Direction::pack, Strided>(int64_t block, bool wide);
template RowKernel<Strided> kernel_for<Direction::unpack, Strided>(int64_t block, bool wide);
template RowKernel<Listed> kernel_for<Direction::pack, Listed>(int64_t block, bool wide);
template RowKernel<Listed> kernel_for<Direction::unpack, Listed>(int64_t block, bool wide);

}  // namespace weft::datatype
