// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "datatype/window.hpp"

#include <atomic>
#include <bit>

#if defined(__x86_64__)
#include <immintrin.h>
#define WEFT_VBMI2 __attribute__((target("avx512f,avx512bw,avx512vbmi2,bmi2")))
#endif

namespace weft::datatype {
namespace {

constexpr int64_t width = 64;

#if defined(__x86_64__)
bool supported() {
  static std::atomic<int> known = -1;
  int has = known.load(std::memory_order_relaxed);
  if (has < 0) {
    __builtin_cpu_init();
    has = __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("bmi2");
    known.store(has, std::memory_order_relaxed);
  }
  return has != 0;
}
#else
bool supported() {
  return false;
}
#endif

// As many turns as one window has room for.
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
  // At least two blocks to a window.
  if (block >= stride || stride + block > width || !supported()) return windows;
  windows.count = 1;
  windows.stride = stride;
  windows.bytes = block;
  windows.mask[0] = low_bits(block);
  fill(windows, block);
  return windows;
}

Windows Windows::of_list(const Blocks& blocks, int64_t stride) {
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

// One window. The packed side may be touched up to 64 bytes on while `left` says that all of that is ours.
template <Direction direction>
WEFT_VBMI2 inline void move_window(char* at, uint64_t mask, char* packed, int64_t bytes, int64_t left) {
  if constexpr (direction == Direction::pack) {
    const __m512i squeezed = _mm512_maskz_compress_epi8(mask, _mm512_maskz_loadu_epi8(mask, at));
    if (left >= width) {
      _mm512_storeu_si512(packed, squeezed);
    } else {
      _mm512_mask_storeu_epi8(packed, low_bits(bytes), squeezed);
    }
  } else {
    const __m512i squeezed =
        left >= width ? _mm512_loadu_si512(packed) : _mm512_maskz_loadu_epi8(low_bits(bytes), packed);
    _mm512_mask_storeu_epi8(at, mask, _mm512_maskz_expand_epi8(mask, squeezed));
  }
}

}  // namespace

template <Direction direction>
WEFT_VBMI2 void move_windows(const Windows& windows, uintptr_t place, int64_t count, char* packed) {
  char* at = reinterpret_cast<char*>(place);
  int64_t left = count * windows.bytes;
  if (windows.count > 1) {
    int64_t bytes[Windows::most];
    for (int w = 0; w < windows.count; ++w) bytes[w] = std::popcount(windows.mask[w]);
    for (int64_t i = 0; i < count; ++i, at += windows.stride) {
      for (int w = 0; w < windows.count; ++w) {
        move_window<direction>(at + w * width, windows.mask[w], packed, bytes[w], left);
        packed += bytes[w];
        left -= bytes[w];
      }
    }
    return;
  }
  const int64_t bytes = windows.turns * windows.bytes;
  const int64_t step = windows.turns * windows.stride;
  for (; count >= windows.turns; count -= windows.turns) {
    move_window<direction>(at, windows.mask[0], packed, bytes, left);
    at += step;
    packed += bytes;
    left -= bytes;
  }
  if (count > 0) {
    move_window<direction>(at, windows.mask[0] & low_bits(count * windows.stride), packed, left, 0);
  }
}

namespace {

// The size of a block is a mask instead of a branch that nobody can predict.
template <Direction direction>
WEFT_VBMI2 void move_masked_list(uintptr_t place, const Blocks& blocks, int64_t from, int64_t to, char* packed) {
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
#else
template <Direction direction>
void move_windows(const Windows& /*windows*/, uintptr_t /*place*/, int64_t /*count*/, char* /*packed*/) {}
#endif

template <Direction direction>
void move_list(uintptr_t place, const Blocks& blocks, int64_t from, int64_t to, char* packed) {
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
template void move_list<Direction::pack>(uintptr_t place, const Blocks& blocks, int64_t from, int64_t to, char* packed);
template void move_list<Direction::unpack>(uintptr_t place, const Blocks& blocks, int64_t from, int64_t to,
                                           char* packed);

}  // namespace weft::datatype
