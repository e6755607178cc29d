// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/object/twin.hpp"

#include <algorithm>

#include "datatype/runs.hpp"
#include "device/api/traffic.hpp"

namespace weft::mpi {

namespace {

uintptr_t moved(const void* address, int64_t offset) {
  return reinterpret_cast<uintptr_t>(address) + static_cast<uintptr_t>(offset);
}

}  // namespace

Twin::Twin(std::vector<TwinData> pieces) : pieces_(std::move(pieces)) {
  uintptr_t high = 0;
  for (const TwinData& piece : pieces_) {
    if (piece.count <= 0 || piece.type->size == 0) continue;
    const int64_t last = (piece.count - 1) * piece.type->extent;
    const int64_t first = piece.type->true_lower_bound;
    low_ = std::min(low_, moved(piece.buffer, std::min<int64_t>(0, last) + first));
    high = std::max(high, moved(piece.buffer, std::max<int64_t>(0, last) + first + piece.type->true_extent));
  }
  memory_ = {static_cast<char*>(device::take_pinned(high - low_)), GiveBack{high - low_}};
}

void* Twin::host(const void* address) const {
  return reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(memory_.get()) + reinterpret_cast<uintptr_t>(address) -
                                 low_);
}

std::string Twin::fetch() const {
  for (const TwinData& piece : pieces_) {
    if (std::string problem = move(piece, INT64_MAX, false); !problem.empty()) return problem;
  }
  return {};
}

std::string Twin::store(int64_t bytes) const {
  for (const TwinData& piece : pieces_) {
    if (std::string problem = move(piece, bytes, true); !problem.empty()) return problem;
  }
  return {};
}

std::string Twin::move(const TwinData& piece, int64_t bytes, bool to_device) const {
  constexpr int room = 64;
  iovec runs[room];
  const int64_t end = std::min(bytes, piece.count * piece.type->size);
  device::count(device::CopyMethod::stood_in, end);
  for (int64_t at = 0; at < end;) {
    const datatype::Runs some = datatype::list_runs(*piece.type, piece.count, piece.buffer, at, end - at, runs, room);
    for (int i = 0; i < some.count; ++i) {
      void* there = runs[i].iov_base;
      std::string problem = to_device ? device::active->copy(there, host(there), runs[i].iov_len)
                                      : device::active->copy(host(there), there, runs[i].iov_len);
      if (!problem.empty()) return problem;
    }
    at += some.bytes;
  }
  return {};
}

}  // namespace weft::mpi
