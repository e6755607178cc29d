// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/object/overlap.hpp"

#include <cinttypes>
#include <cstdio>

namespace weft::mpi {

namespace {

std::string bytes_text(const char* name, const Filled& data) {
  char text[80];
  snprintf(text, sizeof text, "%" PRIu64 " bytes of %s at %#" PRIxPTR, data.bytes, name, data.begin);
  return text;
}

}  // namespace

// Elements may be blocks that begin elsewhere, as those of absolute addresses do, and must follow each other.
Filled filled_by_blocks(const void* buffer, int64_t count, const datatype::Type& type) {
  const bool one_block = type.nest.loops == 0 && type.nest.blocks == nullptr;
  if (!one_block || (count != 1 && type.extent != type.size)) return {};
  return {reinterpret_cast<uintptr_t>(buffer) + static_cast<uintptr_t>(type.first),
          static_cast<uint64_t>(count * type.size)};
}

std::string overlap_text(const char* a_name, const Filled& a, const char* b_name, const Filled& b) {
  return bytes_text(a_name, a) + " and " + bytes_text(b_name, b) + " overlap";
}

}  // namespace weft::mpi
