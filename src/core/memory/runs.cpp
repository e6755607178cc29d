// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/memory/runs.hpp"

#include <algorithm>

#include "datatype/runs.hpp"

namespace weft::core::memory {
namespace {

// Offsets take the place of addresses.
datatype::Runs list(const RegionData& place, int64_t position, int64_t bytes, iovec* runs, int room) {
  const auto* base = reinterpret_cast<const void*>(static_cast<uintptr_t>(place.offset));
  return datatype::list_runs(*place.type, place.count, base, position, bytes, runs, room);
}

uint64_t offset_of(const iovec& run) {
  return reinterpret_cast<uintptr_t>(run.iov_base);
}

}  // namespace

void collect(const RegionData& place, int64_t position, int64_t bytes, int most, Pieces& pieces) {
  if (place.type->contiguous) {
    pieces.runs[0] = {static_cast<uint64_t>(place.offset + position), static_cast<uint64_t>(bytes)};
    pieces.count = 1;
    pieces.bytes = bytes;
    return;
  }
  iovec runs[Pieces::most];
  const datatype::Runs listed = list(place, position, bytes, runs, most);
  for (int i = 0; i < listed.count; ++i) pieces.runs[i] = {offset_of(runs[i]), runs[i].iov_len};
  pieces.count = listed.count;
  pieces.bytes = listed.bytes;
}

void collect_elements(const RegionData& place, const Element& element, int64_t position, int64_t bytes, int most,
                      Pieces& pieces) {
  const int64_t size = element.size();
  pieces.count = static_cast<int>(std::min<int64_t>(bytes / size, most));
  pieces.bytes = pieces.count * size;
  for (int i = 0; i < pieces.count; ++i) {
    iovec first[2];  // an element has at most two runs
    (void)list(place, position + i * size, size, first, 2);
    pieces.runs[i] = {offset_of(first[0]), static_cast<uint64_t>(size)};
  }
}

DataSpan span_of(const datatype::Type& type, int64_t count) {
  if (count == 0 || type.size == 0) return {0, 0};
  const int64_t last = (count - 1) * type.extent;
  return {type.true_lower_bound + std::min<int64_t>(last, 0),
          type.true_lower_bound + type.true_extent + std::max<int64_t>(last, 0)};
}

}  // namespace weft::core::memory
