// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "datatype/pack.hpp"

#include <algorithm>
#include <cstring>

#include "base/copy.hpp"
#include "datatype/on_device.hpp"
#include "datatype/rows.hpp"
#include "datatype/walk.hpp"
#include "datatype/window.hpp"
#include "device/api/pins.hpp"

namespace weft::datatype {
namespace {

// The sink that copies between elements and the packed bytes from `packed` on.
template <Direction direction>
class Mover {
 public:
  explicit Mover(char* packed) : packed_(packed) {}

  bool rows(const Rows& rows, int64_t block) {
    if (block != row_block_ || rows.stride != row_stride_) {
      row_block_ = block;
      row_stride_ = rows.stride;
      row_windows_ = Windows::of_row(block, rows.stride);
      row_kernel_ = kernel_for<direction, Strided>(block, has_wide_registers());
    }
    if (row_windows_.turns == 0 || rows.count < row_windows_.turns) {
      row_kernel_({rows.place, rows.stride, rows.count, rows.row_stride, rows.rows}, block, packed_);
      packed_ += rows.rows * rows.count * block;
      return true;
    }
    uintptr_t place = rows.place;
    for (int64_t i = 0; i < rows.rows; ++i, place = advance(place, rows.row_stride)) {
      move_windows<direction>(row_windows_, place, rows.count, packed_);
      packed_ += rows.count * block;
    }
    return true;
  }

  bool list(uintptr_t place, const BlockTable& blocks, int64_t from, int64_t to) {
    if (blocks.packed) {
      move_list<direction>(place, blocks, from, to, packed_);
    } else {
      if (blocks.each != list_block_) {
        list_block_ = blocks.each;
        list_kernel_ = kernel_for<direction, Listed>(blocks.each, has_wide_registers());
      }
      list_kernel_({place, blocks.offset + from, to - from}, blocks.each, packed_);
    }
    packed_ += blocks.packed_before(to) - blocks.packed_before(from);
    return true;
  }

  bool lists(uintptr_t place, int64_t stride, int64_t count, const BlockTable& blocks) {
    if (count > 2) {
      if (&blocks != pattern_ || stride != pattern_stride_) {
        pattern_ = &blocks;
        pattern_stride_ = stride;
        pattern_windows_ = Windows::of_list(blocks, stride);
      }
      if (pattern_windows_.turns > 0) {
        move_windows<direction>(pattern_windows_, place, count, packed_);
        packed_ += count * pattern_windows_.bytes;
        return true;
      }
    }
    for (int64_t i = 0; i < count; ++i, place = advance(place, stride)) (void)list(place, blocks, 0, blocks.count);
    return true;
  }

  bool bytes(uintptr_t place, int64_t bytes) {
    move<direction>(reinterpret_cast<char*>(place), packed_, bytes);
    packed_ += bytes;
    return true;
  }

 private:
  char* packed_;
  // The result for the last of each kind: most layouts have one.
  int64_t row_block_ = 0;
  int64_t row_stride_ = 0;
  Windows row_windows_;
  RowKernel<Strided> row_kernel_ = nullptr;
  int64_t list_block_ = 0;
  RowKernel<Listed> list_kernel_ = nullptr;
  const BlockTable* pattern_ = nullptr;
  int64_t pattern_stride_ = 0;
  Windows pattern_windows_;
};

template <Direction direction>
inline void transfer(const Type& type, int64_t count, uintptr_t buffer, int64_t position, char* packed, int64_t bytes) {
  bytes = std::min(bytes, count * type.size - position);
  if (bytes <= 0) return;
  if (type.contiguous) {
    char* at = reinterpret_cast<char*>(advance(buffer, position));
    return direction == Direction::pack ? base::copy(packed, at, static_cast<size_t>(bytes))
                                        : base::copy(at, packed, static_cast<size_t>(bytes));
  }
  Mover<direction> mover(packed);
  Walk(mover).run(type, count, buffer, position, bytes);
}

}  // namespace

void pack(const Type& type, int64_t count, const void* buffer, int64_t position, void* out, int64_t bytes) {
  if (are_on_device(type, count, buffer) || device::owns(out)) [[unlikely]]
    return pack_on_device(type, count, buffer, position, out, bytes);
  pack_on_host(type, count, buffer, position, out, bytes);
}

void pack_on_host(const Type& type, int64_t count, const void* buffer, int64_t position, void* out, int64_t bytes) {
  transfer<Direction::pack>(type, count, reinterpret_cast<uintptr_t>(buffer), position, static_cast<char*>(out), bytes);
}

void unpack(const Type& type, int64_t count, void* buffer, int64_t position, const void* in, int64_t bytes) {
  if (are_on_device(type, count, buffer) || device::owns(in)) [[unlikely]]
    return unpack_on_device(type, count, buffer, position, in, bytes);
  unpack_on_host(type, count, buffer, position, in, bytes);
}

void unpack_on_host(const Type& type, int64_t count, void* buffer, int64_t position, const void* in, int64_t bytes) {
  char* packed = static_cast<char*>(const_cast<void*>(in));
  transfer<Direction::unpack>(type, count, reinterpret_cast<uintptr_t>(buffer), position, packed, bytes);
}

namespace {

constexpr size_t stage_bytes = 8192;                    // stay in the first cache
constexpr size_t device_stage_bytes = size_t{1} << 20;  // a kernel or two for each

void copy_by(decltype(pack)* pack_from, decltype(unpack)* unpack_to, const Type& from, int64_t from_count,
             const void* source, const Type& to, int64_t to_count, void* target, int64_t bytes, void* stage,
             size_t room) {
  bytes = std::min({bytes, from_count * from.size, to_count * to.size});
  if (from.contiguous) return unpack_to(to, to_count, target, 0, source, bytes);
  if (to.contiguous) return pack_from(from, from_count, source, 0, target, bytes);
  for (int64_t position = 0; position < bytes; position += static_cast<int64_t>(room)) {
    const auto part = std::min(bytes - position, static_cast<int64_t>(room));
    pack_from(from, from_count, source, position, stage, part);
    unpack_to(to, to_count, target, position, stage, part);
  }
}

}  // namespace

void copy(const Type& from, int64_t from_count, const void* source, const Type& to, int64_t to_count, void* target,
          int64_t bytes) {
  const bool by_device = bytes > 0 && !from.contiguous && !to.contiguous &&
                         (are_on_device(from, from_count, source) || are_on_device(to, to_count, target));
  const size_t most = std::min(static_cast<size_t>(bytes), device_stage_bytes);
  if (void* const stage = by_device ? device::take_pinned(most) : nullptr) {
    copy_by(pack, unpack, from, from_count, source, to, to_count, target, bytes, stage, most);
    return device::give_pinned(stage, most);
  }
  char stage[stage_bytes];
  copy_by(pack, unpack, from, from_count, source, to, to_count, target, bytes, stage, sizeof stage);
}

void copy_on_host(const Type& from, int64_t from_count, const void* source, const Type& to, int64_t to_count,
                  void* target, int64_t bytes) {
  char stage[stage_bytes];
  copy_by(pack_on_host, unpack_on_host, from, from_count, source, to, to_count, target, bytes, stage, sizeof stage);
}

}  // namespace weft::datatype
