// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "datatype/rows.hpp"

#include <array>
#include <atomic>
#include <utility>

namespace weft::datatype {
namespace {

using Vector32 = uint64_t __attribute__((vector_size(32)));

#if defined(__x86_64__)
#define WEFT_AVX2 __attribute__((target("avx2")))
#else
#define WEFT_AVX2
#endif

template <Direction direction, class Places, class Unit, int units>
void move_blocks(Places places, int64_t count, int64_t block, char* packed) {
  for (int64_t i = 0; i < count; ++i, packed += block) move_units<direction, Unit, units>(places.next(), packed, block);
}

// The same with the wider registers that not every processor has.
template <Direction direction, class Places, int units>
WEFT_AVX2 void move_wide_blocks(Places places, int64_t count, int64_t block, char* packed) {
  for (int64_t i = 0; i < count; ++i, packed += block) {
    move_units<direction, Vector32, units>(places.next(), packed, block);
  }
}

template <Direction direction, class Places>
void move_large_blocks(Places places, int64_t count, int64_t block, char* packed) {
  for (int64_t i = 0; i < count; ++i, packed += block) move<direction>(places.next(), packed, block);
}

bool has_avx2() {
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

// Kernels for 2, 3, ... units in a block.
template <Direction direction, class Places, int... more>
constexpr auto narrow_kernels(std::integer_sequence<int, more...> /*more*/) {
  return std::array<Kernel<Places>, sizeof...(more)>{move_blocks<direction, Places, Vector16, more + 2>...};
}
template <Direction direction, class Places, int... more>
constexpr auto wide_kernels(std::integer_sequence<int, more...> /*more*/) {
  return std::array<Kernel<Places>, sizeof...(more)>{move_wide_blocks<direction, Places, more + 2>...};
}

}  // namespace

template <Direction direction, class Places>
Kernel<Places> kernel_for(int64_t block) {
  static constexpr auto narrow = narrow_kernels<direction, Places>(std::make_integer_sequence<int, 7>());
  static constexpr auto wide = wide_kernels<direction, Places>(std::make_integer_sequence<int, 7>());
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
  if (block > 32 && block <= 256 && has_avx2()) return wide[static_cast<size_t>((block - 33) / 32)];
  if (block <= 128) return narrow[static_cast<size_t>((block - 17) / 16)];
  return move_large_blocks<direction, Places>;
}

template Kernel<Strided> kernel_for<Direction::pack, Strided>(int64_t block);
template Kernel<Strided> kernel_for<Direction::unpack, Strided>(int64_t block);
template Kernel<Listed> kernel_for<Direction::pack, Listed>(int64_t block);
template Kernel<Listed> kernel_for<Direction::unpack, Listed>(int64_t block);

}  // namespace weft::datatype
