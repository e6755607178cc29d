// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The data arguments of collective calls, as given and as checked.

#include <vector>

#include "mpi/coll/check.hpp"

namespace weft::mpi {

// The blocks of all ranks, or neighbours: one count for all, or arrays.
struct BlocksArgument {
  const void* buffer;
  coll::Array counts;
  coll::Array displacements;
  MPI_Datatype datatype = MPI_DATATYPE_NULL;  // of all blocks
  const MPI_Datatype* datatypes = nullptr;    // or one each
  bool by_rank = false;                       // arrays are given
  bool typed = false;                         // of types, too
  bool complete = true;                       // no array is missing
};

inline BlocksArgument uniform(const void* buffer, MPI_Count count, MPI_Datatype datatype) {
  return {.buffer = buffer, .counts = coll::Array(int64_t{count}), .displacements = {}, .datatype = datatype};
}
template <class Count, class Displacement>
BlocksArgument arrays(const void* buffer, const Count* counts, const Displacement* displacements,
                      MPI_Datatype datatype) {
  return {.buffer = buffer,
          .counts = coll::Array(counts),
          .displacements = coll::Array(displacements),
          .datatype = datatype,
          .by_rank = true,
          .complete = counts != nullptr && displacements != nullptr};
}
template <class Count, class Displacement>
BlocksArgument arrays(const void* buffer, const Count* counts, const Displacement* displacements,
                      const MPI_Datatype* datatypes) {
  return {.buffer = buffer,
          .counts = coll::Array(counts),
          .displacements = coll::Array(displacements),
          .datatypes = datatypes,
          .by_rank = true,
          .typed = true,
          .complete = counts != nullptr && displacements != nullptr && datatypes != nullptr};
}

// A block of a rank's own.
struct BlockArgument {
  const void* buffer;
  MPI_Count count;
  MPI_Datatype datatype;
};

// The buffers of a reduction.
struct ReductionArgument {
  const void* send;
  void* receive;
  MPI_Datatype datatype;
  MPI_Op op;
};

// The elements of all ranks' parts of a result.
struct CountsArgument {
  coll::Array counts;
  bool complete = true;
};
inline CountsArgument same(MPI_Count count) {
  return {coll::Array(int64_t{count})};
}
template <class Count>
CountsArgument by_rank(const Count* counts) {
  return {coll::Array(counts), counts != nullptr};
}

// ---- Checked. What failed is empty, and the check says so.

[[nodiscard]] coll::Block take(Check& check, const BlockArgument& mine);

// `number` blocks. `types` keeps the types of blocks that have one each.
[[nodiscard]] coll::Blocks take(Check& check, const BlocksArgument& all, int32_t number, std::vector<Type*>& types);

// A block of our own that is also one of all, at `place`: the two must be apart.
void check_apart(Check& check, const coll::Block& mine, const coll::Block& place);

}  // namespace weft::mpi
