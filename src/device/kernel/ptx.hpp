// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The texts of kernels for CUDA's devices, in PTX 6.0 for all devices of compute capability 5.0 and newer: every driver
// since CUDA 9 compiles them for the device it has. Each text is a module with one kernel, `kernel_name`; its arguments
// are one structure.

#include <string>

#include "device/kernel/kernel.hpp"

namespace weft::device::ptx {

inline constexpr const char* kernel_name = "weft";

// ---- Reductions

struct ReductionArguments {
  uint64_t in;
  uint64_t inout;
  uint64_t count;    // of elements
  uint64_t vectors;  // of them, the first that are computed 16 bytes at a time: both addresses are multiples of 16 then
};
// Elements in 16 bytes; 0: none are computed that way.
[[nodiscard]] int elements_of_vector(const KernelReduction& reduction);
// Empty: there is no such operation on such numbers.
[[nodiscard]] std::string text_of(const KernelReduction& reduction);

// ---- Layouts. A kernel moves units of 1, 2, 4, 8 or 16 bytes, below 2^31 of them together with those skipped.

// x / d for x below 2^31, by a product and a shift.
struct Divisor {
  uint32_t factor;
  uint32_t shift;
};
[[nodiscard]] Divisor divisor(uint32_t by);

struct LayoutArguments {
  uint64_t place;
  uint64_t packed;
  uint32_t skipped;  // units of the layout before the first
  uint32_t units;
  uint32_t block;  // units within the innermost loop
  Divisor by_block;
  uint32_t listed;  // blocks in the list
  uint64_t offset;  // of each, on the device
  uint64_t before;  // bytes of data before each, on the device
  uint32_t each;    // units in each, of an even list
  Divisor by_each;
  uint32_t unused;
  struct LoopArguments {
    int64_t stride;
    uint32_t count;
    Divisor by_count;
    uint32_t unused;
  } loop[KernelLayout::max_loops];  // innermost first
};

enum class Listing : uint8_t { none, even, uneven };

struct LayoutForm {
  KernelDirection direction;
  Listing listing;
  int loops;
  int unit;  // bytes
};
[[nodiscard]] std::string text_of(const LayoutForm& form);

// One launch of a kernel.
struct Launch {
  LayoutForm form;
  LayoutArguments arguments;  // but for the copy of a list on the device
  int64_t bytes;              // that it moves
};
// The launch that moves the bytes from `position` on, `bytes` at most, and at least one; `packed` is their device
// address. The data of a list are fewer than 2^30 bytes.
[[nodiscard]] Launch launch_of(KernelLayout layout, KernelDirection direction, int64_t position, uint64_t packed,
                               int64_t bytes);

// Numbers that differ for all kernels, of layouts and of reductions.
constexpr uint64_t key_of(const KernelReduction& reduction) {
  return static_cast<uint64_t>(reduction.operation) | static_cast<uint64_t>(reduction.number) << 8 |
         static_cast<uint64_t>(reduction.index) << 16 | static_cast<uint64_t>(reduction.is_complex) << 24;
}
constexpr uint64_t key_of(const LayoutForm& form) {
  return uint64_t{1} << 32 | static_cast<uint64_t>(form.direction) | static_cast<uint64_t>(form.listing) << 8 |
         static_cast<uint64_t>(form.loops) << 16 | static_cast<uint64_t>(form.unit) << 24;
}

}  // namespace weft::device::ptx
