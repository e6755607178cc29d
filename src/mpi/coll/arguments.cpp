// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/coll/arguments.hpp"

namespace weft::mpi {

using coll::Block;
using coll::Blocks;

namespace {

void* mutable_address(const void* buffer) {
  return const_cast<void*>(buffer);
}

// A type for each block, and displacements in bytes: with MPI_BOTTOM they are addresses.
Blocks take_typed(Check& check, const BlocksArgument& all, int32_t number, std::vector<Type*>& types) {
  check.no_in_place(all.buffer, "here");
  types.resize(static_cast<size_t>(number));
  for (int32_t i = 0; i < number && !check.failed(); ++i) {
    const uintptr_t place = reinterpret_cast<uintptr_t>(all.buffer) + static_cast<uintptr_t>(all.displacements[i]);
    types[static_cast<size_t>(i)] = check.data(reinterpret_cast<void*>(place), all.counts[i], all.datatypes[i]);
  }
  return {mutable_address(all.buffer), all.counts, all.displacements, types.data()};
}

}  // namespace

Block take(Check& check, const BlockArgument& mine) {
  if (check.failed()) return {};
  Type* type = check.data(mine.buffer, mine.count, mine.datatype);
  return {mutable_address(mine.buffer), mine.count, type};
}

Blocks take(Check& check, const BlocksArgument& all, int32_t number, std::vector<Type*>& types) {
  if (!all.complete && number > 0) check.array(nullptr, "an array of counts, displacements or types");
  if (check.failed()) return {};
  if (all.typed) return take_typed(check, all, number, types);
  Type* type = check.blocks(all.buffer, all.counts, number, all.datatype);
  if (check.failed()) return {};
  if (!all.by_rank) return {mutable_address(all.buffer), all.counts[0], *type};
  return {mutable_address(all.buffer), all.counts, all.displacements, *type};
}

void check_apart(Check& check, const Block& mine, const Block& place) {
  if (check.failed() || mine.in_place() || !mine.type->contiguous || !place.type->contiguous) return;
  check.apart(mine.data, place.data, mine.count, mine.type);
}

}  // namespace weft::mpi
