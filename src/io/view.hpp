// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// A view: which bytes of a file a rank sees, as one stream of bytes (MPI-5.0, 14.3). The filetype repeats from the
// displacement on, and the stream is its data in order. Positions count bytes of the stream, offsets bytes of the file.
// Nothing is flattened: a position is found by a division for each loop of the filetype and a search in each list.

#include <sys/uio.h>

#include <cstdint>

#include "datatype/type.hpp"

namespace weft::io {

using datatype::Type;

// Bytes of the file.
struct Run {
  int64_t offset;
  int64_t bytes;
};

struct View {
  int64_t displacement = 0;
  Type* etype = &datatype::byte_type;
  Type* filetype = &datatype::byte_type;
  bool rising = true;  // offsets never fall along the stream: MPI_File_set_view finds out

  // The stream is the file from the displacement on.
  [[nodiscard]] bool is_contiguous() const { return filetype->contiguous; }

  // Whether stream bytes [position, position + bytes) have offsets that 64 bits hold. The others ask this first.
  [[nodiscard]] bool reaches(int64_t position, int64_t bytes) const;

  // The runs of stream bytes [position, position + bytes) in their order, at most `room` of them. Returns how many;
  // `covered` tells how many bytes they have: the next call goes on behind them. Runs that touch are one.
  int list(int64_t position, int64_t bytes, Run* runs, int room, int64_t& covered) const;

  // The offset of a stream byte. If the filetype has no data, this is the displacement.
  [[nodiscard]] int64_t offset_of(int64_t position) const;

  // The first stream byte whose offset is not below `offset`. The view must be rising.
  [[nodiscard]] int64_t position_at(int64_t offset) const;
};

// Whether the offsets of a type's data are neither negative nor falling, as etypes and filetypes have to be
// (MPI-5.0, 14.3); `overlaps`: whether some byte occurs twice, which must not be in a file that is written.
struct Order {
  bool negative = false;
  bool falling = false;
  bool overlaps = false;
};
[[nodiscard]] Order order_of(const Type& type);

}  // namespace weft::io
