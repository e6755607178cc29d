// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "datatype/window.hpp"

#include <array>
#include <atomic>
#include <bit>

#if defined(__x86_64__)
#include <immintrin.h>
#define WEFT_VBMI2 __attribute__((target("avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi2")))
#endif

namespace weft::datatype {
namespace {

constexpr int64_t width = 64;
constexpr uint64_t every = ~uint64_t{0};

#if defined(__x86_64__)
bool supported() {
  static std::atomic<int> known = -1;
  int has = known.load(std::memory_order_relaxed);
  if (has < 0) {
    __builtin_cpu_init();
    has = __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vbmi") &&
          __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("bmi2");
    known.store(has, std::memory_order_relaxed);
  }
  return has != 0;
}
#else
bool supported() {
  return false;
}
#endif

// Fits as many turns as possible into one window.
void fill(Windows& windows, int64_t span) {
  windows.turns = 1;
  if (windows.count > 1 || windows.stride > width - span) return;
  windows.turns += (width - span) / windows.stride;
  const uint64_t turn = windows.mask[0];
  for (int64_t i = 1; i < windows.turns; ++i) windows.mask[0] |= turn << (i * windows.stride);
}

constexpr uint64_t low_bits(int64_t bits) {
  return bits >= width ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
}

}  // namespace

Windows Windows::of_row(int64_t block, int64_t stride) {
  Windows windows;
  // Three blocks to a window pay: with two, or with blocks as wide as a register, moving them one by one is as quick.
  if (block >= 16 || block >= stride || 2 * stride + block > width || !supported()) return windows;
  windows.count = 1;
  windows.stride = stride;
  windows.bytes = block;
  windows.mask[0] = low_bits(block);
  fill(windows, block);
  return windows;
}

Windows Windows::of_list(const BlockTable& blocks, int64_t stride) {
  Windows windows;
  if (!supported() || blocks.nest_count > 0 || blocks.count > most * width) return windows;
  const int64_t last = blocks.count - 1;
  const int64_t span = blocks.offset[last] + blocks.bytes_of(last);
  if (span > most * width || stride < span) return windows;
  int64_t end = 0;
  for (int64_t i = 0; i < blocks.count; ++i) {
    if (blocks.offset[i] < end) return windows;  // out of order: squeezing would not order them
    end = blocks.offset[i] + blocks.bytes_of(i);
  }
  const auto count = static_cast<int>((span + width - 1) / width);
  if (blocks.count < 2 * count) return windows;  // a few blocks are moved as quickly one by one
  for (int64_t i = 0; i < blocks.count; ++i) {
    for (int64_t byte = blocks.offset[i]; byte < blocks.offset[i] + blocks.bytes_of(i); ++byte) {
      windows.mask[byte / width] |= uint64_t{1} << (byte % width);
    }
  }
  windows.count = count;
  windows.stride = stride;
  windows.bytes = blocks.packed_before(blocks.count);
  fill(windows, span);
  return windows;
}

#if defined(__x86_64__)
namespace {

// How the bytes of a window move: where each comes from, 64 numbers.
template <Direction direction>
WEFT_VBMI2 inline __attribute__((always_inline)) void find_order(uint64_t mask, __m512i& order) {
  alignas(width) static constexpr auto numbers = [] {
    std::array<uint8_t, width> all{};
    for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint8_t>(i);
    return all;
  }();
  const __m512i from = _mm512_load_si512(numbers.data());
  order = direction == Direction::pack ? _mm512_maskz_compress_epi8(mask, from) : _mm512_maskz_expand_epi8(mask, from);
}

// One window. The packed side may be touched up to 64 bytes on while `left` says that all of that is ours.
template <Direction direction>
WEFT_VBMI2 inline __attribute__((always_inline)) void move_window(char* at, uint64_t mask, const __m512i& order,
                                                                  char* packed, int64_t bytes, int64_t left) {
  if constexpr (direction == Direction::pack) {
    const __m512i squeezed = _mm512_maskz_permutexvar_epi8(every, order, _mm512_maskz_loadu_epi8(mask, at));
    if (left >= width) {
      _mm512_storeu_si512(packed, squeezed);
    } else {
      _mm512_mask_storeu_epi8(packed, low_bits(bytes), squeezed);
    }
  } else {
    const __m512i squeezed =
        left >= width ? _mm512_loadu_si512(packed) : _mm512_maskz_loadu_epi8(low_bits(bytes), packed);
    _mm512_mask_storeu_epi8(at, mask, _mm512_maskz_permutexvar_epi8(every, order, squeezed));
  }
}

template <Direction direction>
WEFT_VBMI2 void move_wide_windows(const Windows& windows, uintptr_t place, int64_t count, char* packed) {
  char* at = reinterpret_cast<char*>(place);
  int64_t left = count * windows.bytes;
  if (windows.count > 1) {
    int64_t bytes[Windows::most];
    __m512i order[Windows::most];
    for (int w = 0; w < windows.count; ++w) {
      bytes[w] = std::popcount(windows.mask[w]);
      find_order<direction>(windows.mask[w], order[w]);
    }
    for (int64_t i = 0; i < count; ++i, at += windows.stride) {
      for (int w = 0; w < windows.count; ++w) {
        move_window<direction>(at + w * width, windows.mask[w], order[w], packed, bytes[w], left);
        packed += bytes[w];
        left -= bytes[w];
      }
    }
    return;
  }
  const uint64_t mask = windows.mask[0];
  __m512i order;
  find_order<direction>(mask, order);
  const int64_t bytes = windows.turns * windows.bytes;
  const int64_t step = windows.turns * windows.stride;
  for (; count >= windows.turns; count -= windows.turns) {
    move_window<direction>(at, mask, order, packed, bytes, left);
    at += step;
    packed += bytes;
    left -= bytes;
  }
  if (count > 0) move_window<direction>(at, mask & low_bits(count * windows.stride), order, packed, left, 0);
}

// The size of a block is a mask instead of a branch that nobody can predict.
template <Direction direction>
WEFT_VBMI2 void move_masked_list(uintptr_t place, const BlockTable& blocks, int64_t from, int64_t to, char* packed) {
  const int64_t end = blocks.packed[to];
  for (int64_t i = from; i < to; ++i) {
    const int64_t bytes = blocks.packed[i + 1] - blocks.packed[i];
    char* at = reinterpret_cast<char*>(place + static_cast<uintptr_t>(blocks.offset[i]));
    if (bytes > width) {
      move<direction>(at, packed, bytes);
    } else {
      const uint64_t mask = _bzhi_u64(~uint64_t{0}, static_cast<unsigned>(bytes));
      const bool ours = end - blocks.packed[i] >= width;
      if constexpr (direction == Direction::pack) {
        const __m512i data = _mm512_maskz_loadu_epi8(mask, at);
        if (ours) {
          _mm512_storeu_si512(packed, data);
        } else {
          _mm512_mask_storeu_epi8(packed, mask, data);
        }
      } else {
        const __m512i data = ours ? _mm512_loadu_si512(packed) : _mm512_maskz_loadu_epi8(mask, packed);
        _mm512_mask_storeu_epi8(at, mask, data);
      }
    }
    packed += bytes;
  }
}

}  // namespace
#endif

template <Direction direction>
void move_windows([[maybe_unused]] const Windows& windows, [[maybe_unused]] uintptr_t place,
                  [[maybe_unused]] int64_t count, [[maybe_unused]] char* packed) {
#if defined(__x86_64__)
  move_wide_windows<direction>(windows, place, count, packed);
#endif
}

template <Direction direction>
void move_list(uintptr_t place, const BlockTable& blocks, int64_t from, int64_t to, char* packed) {
#if defined(__x86_64__)
  if (supported()) return move_masked_list<direction>(place, blocks, from, to, packed);
#endif
  for (int64_t i = from; i < to; ++i) {
    const int64_t bytes = blocks.packed[i + 1] - blocks.packed[i];
    move<direction>(reinterpret_cast<char*>(place + static_cast<uintptr_t>(blocks.offset[i])), packed, bytes);
    packed += bytes;
  }
}

template void move_windows<Direction::pack>(const Windows& windows, uintptr_t place, int64_t count, char* packed);
template void move_windows<Direction::unpack>(const Windows& windows, uintptr_t place, int64_t count, char* packed);
template void move_list<Direction::pack>(uintptr_t place, const BlockTable& blocks, int64_t from, int64_t to,
                                         char* packed);
template void move_list<Direction::unpack>(uintptr_t place, const BlockTable& blocks, int64_t from, int64_t to,
                                           char* packed);

}  // namespace weft::datatype
