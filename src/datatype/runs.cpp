// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "datatype/runs.hpp"

#include "datatype/walk.hpp"

namespace weft::datatype {
namespace {

// The sink that writes addresses down.
class Lister {
 public:
  Lister(iovec* runs, int room) : runs_(runs), room_(room) {}

  bool rows(const Rows& rows, int64_t block) {
    uintptr_t row = rows.place;
    for (int64_t k = 0; k < rows.rows; ++k, row = advance(row, rows.row_stride)) {
      uintptr_t place = row;
      for (int64_t i = 0; i < rows.count; ++i, place = advance(place, rows.stride)) {
        if (!bytes(place, block)) return false;
      }
    }
    return true;
  }

  bool list(uintptr_t place, const BlockTable& blocks, int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i) {
      if (!bytes(advance(place, blocks.offset[i]), blocks.bytes_of(i))) return false;
    }
    return true;
  }

  bool lists(uintptr_t place, int64_t stride, int64_t count, const BlockTable& blocks) {
    for (int64_t i = 0; i < count; ++i, place = advance(place, stride)) {
      if (!list(place, blocks, 0, blocks.count)) return false;
    }
    return true;
  }

  bool bytes(uintptr_t place, int64_t bytes) {
    const auto size = static_cast<size_t>(bytes);
    if (listed_.count > 0) {
      iovec& last = runs_[listed_.count - 1];
      if (reinterpret_cast<uintptr_t>(last.iov_base) + last.iov_len == place) {
        last.iov_len += size;
        listed_.bytes += bytes;
        return true;
      }
    }
    if (listed_.count == room_) return false;
    runs_[listed_.count++] = {reinterpret_cast<void*>(place), size};
    listed_.bytes += bytes;
    return true;
  }

  [[nodiscard]] Runs listed() const { return listed_; }

 private:
  iovec* runs_;
  int room_;
  Runs listed_{0, 0};
};

}  // namespace

Runs list_runs(const Type& type, int64_t count, const void* buffer, int64_t position, int64_t bytes, iovec* runs,
               int room) {
  bytes = std::min(bytes, count * type.size - position);
  Lister lister(runs, room);
  if (bytes > 0) Walk(lister).run(type, count, reinterpret_cast<uintptr_t>(buffer), position, bytes);
  return lister.listed();
}

}  // namespace weft::datatype
