// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The work of kernels on a device, described without datatypes: layouts with gaps that are packed and unpacked, and
// reductions. ptx.hpp makes the texts of the kernels.

#include <cstddef>
#include <cstdint>

namespace weft::device {

// Contiguous blocks at offsets from a place, in the order of their data. It has a copy in the memory of a device from
// its first use there on, which the owner releases (Driver::release) with the list. Used by one thread at a time.
struct List {
  const int64_t* offset;
  const int64_t* packed;  // count + 1: bytes of data before each block, and in all
  int64_t count;
  int64_t each;             // bytes in every block when all have as many, otherwise 0
  int64_t alignment;        // a power of two that divides all of the numbers, 16 at most
  void* there = nullptr;    // on the device: the offsets, behind them `packed`
  void* context = nullptr;  // the driver's, of the copy
};

// Loops around a block of contiguous bytes, or around a list.
struct KernelLayout {
  struct KernelLoop {
    int64_t count;
    int64_t stride;  // bytes
  };
  static constexpr int max_loops = 9;

  uint64_t place;  // address of the first block
  int64_t block;   // bytes of data within the innermost loop
  int loops;
  KernelLoop loop[max_loops];  // outermost first
  List* list;                  // nullptr if the block is contiguous
};

// The contiguous bytes from byte `position` of the data on, to the end of their block.
struct KernelRun {
  uint64_t address;
  int64_t bytes;
};
[[nodiscard]] KernelRun run_at(const KernelLayout& layout, int64_t position);

enum class KernelDirection : uint8_t { pack, unpack };

// clang-format off
enum class KernelOperation : uint8_t {
  sum, product, minimum, maximum, bit_and, bit_or, bit_xor, logical_and, logical_or, logical_xor, minloc, maxloc,
};
enum class Number : uint8_t { none, s8, u8, s16, u16, s32, u32, s64, u64, f16, bf16, f32, f64 };
// clang-format on

constexpr int size_of(Number number) {
  constexpr int sizes[] = {0, 1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8};
  return sizes[static_cast<int>(number)];
}

// inout[i] = in[i] op inout[i]. The elements are numbers, complex numbers (pairs of them), or the pairs of minloc and
// maxloc. The value and the index of such a pair take as many bytes each as the larger of both has.
struct KernelReduction {
  KernelOperation operation;
  Number number;
  Number index = Number::none;  // of minloc and maxloc
  bool is_complex = false;
  // Performs it on the processor.
  void (*on_host)(const void* in, void* inout, int64_t count) = nullptr;

  constexpr int to_second() const {  // bytes from the first part of an element to the second
    return size_of(index) > size_of(number) ? size_of(index) : size_of(number);
  }
  constexpr int parts() const { return is_complex || index != Number::none ? 2 : 1; }
  constexpr int extent() const { return parts() * to_second(); }
};

}  // namespace weft::device
