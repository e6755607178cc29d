// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Bytes [at, at + bytes) of a block's data, packed. Blocks lie in memory of the host: it stands for that of a device
// (src/mpi/coll/device.hpp).

#include <cstring>

#include "base/copy.hpp"
#include "coll/plan/block.hpp"
#include "datatype/pack.hpp"

namespace weft::coll {

inline void pack_piece(const Block& block, int64_t at, void* to, int64_t bytes) {
  if (block.type->contiguous) {
    base::copy(to, static_cast<const char*>(block.data) + at, static_cast<size_t>(bytes));
  } else {
    datatype::pack_on_host(*block.type, block.count, block.data, at, to, bytes);
  }
}

inline void unpack_piece(const void* from, const Block& block, int64_t at, int64_t bytes) {
  if (block.type->contiguous) {
    base::copy(static_cast<char*>(block.data) + at, from, static_cast<size_t>(bytes));
  } else {
    datatype::unpack_on_host(*block.type, block.count, block.data, at, from, bytes);
  }
}

// Unpacks from memory that no other rank reads, and whose contents are lost: its lines go back to their writer.
inline void take_piece(void* from, const Block& block, int64_t at, int64_t bytes) {
  if (block.type->contiguous) {
    base::copy_owning(static_cast<char*>(block.data) + at, from, static_cast<size_t>(bytes));
  } else {
    datatype::unpack_on_host(*block.type, block.count, block.data, at, from, bytes);
    base::own_lines(from, static_cast<size_t>(bytes));
  }
}

}  // namespace weft::coll
