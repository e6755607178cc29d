// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "datatype/on_device.hpp"

#include <algorithm>
#include <vector>

#include "datatype/on_device_kernel.hpp"
#include "datatype/runs.hpp"
#include "device/api/traffic.hpp"

namespace weft::datatype {
namespace {

// Runs of equal length at equal distances.
struct DeviceRows {
  char* first;
  size_t stride;
  size_t length;
  size_t count;
};

DeviceRows rows_at(const iovec* runs, int count) {
  DeviceRows rows{static_cast<char*>(runs[0].iov_base), runs[0].iov_len, runs[0].iov_len, 1};
  while (static_cast<int>(rows.count) < count) {
    const iovec& next = runs[rows.count];
    const auto distance = static_cast<size_t>(static_cast<char*>(next.iov_base) - rows.first);
    if (rows.count == 1) rows.stride = distance;
    if (next.iov_len != rows.length || rows.stride < rows.length || distance != rows.count * rows.stride) break;
    ++rows.count;
  }
  if (rows.count == 1) rows.stride = rows.length;
  return rows;
}

// `move` takes rows of elements and where their packed bytes are; it says whether it went well.
template <class Move>
void each_rows(const Type& type, int64_t count, const void* buffer, int64_t position, int64_t bytes, Move&& move) {
  constexpr int room = 8192;
  static thread_local std::vector<iovec> list;
  list.resize(room);
  iovec* const runs = list.data();
  const int64_t end = position + std::min(bytes, count * type.size - position);
  device::count(device::CopyMethod::packed, end - position);
  for (int64_t at = position; at < end;) {
    const Runs some = list_runs(type, count, buffer, at, end - at, runs, room);
    for (int i = 0; i < some.count;) {
      const DeviceRows rows = rows_at(runs + i, some.count - i);
      const std::string problem = move(rows, at - position);
      if (!problem.empty()) return device::fail(problem);
      at += static_cast<int64_t>(rows.count * rows.length);
      i += static_cast<int>(rows.count);
    }
  }
}

}  // namespace

bool lie_on_device(const Type& type, int64_t count, const void* buffer) {
  return count > 0 && type.size != 0 &&
         device::active->owns(
             reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(buffer) + static_cast<uintptr_t>(type.first)));
}

void pack_on_device(const Type& type, int64_t count, const void* buffer, int64_t position, void* out, int64_t bytes) {
  if (lie_on_device(type, count, buffer) &&
      move_by_kernel(type, count, buffer, position, out, bytes, device::KernelDirection::pack))
    return;
  each_rows(type, count, buffer, position, bytes, [out](const DeviceRows& rows, int64_t at) {
    char* to = static_cast<char*>(out) + at;
    return rows.count == 1
               ? device::active->copy(to, rows.first, rows.length)
               : device::active->copy_rows(to, rows.length, rows.first, rows.stride, rows.length, rows.count);
  });
}

void unpack_on_device(const Type& type, int64_t count, void* buffer, int64_t position, const void* in, int64_t bytes) {
  if (lie_on_device(type, count, buffer) &&
      move_by_kernel(type, count, buffer, position, const_cast<void*>(in), bytes, device::KernelDirection::unpack))
    return;
  each_rows(type, count, buffer, position, bytes, [in](const DeviceRows& rows, int64_t at) {
    const char* from = static_cast<const char*>(in) + at;
    return rows.count == 1
               ? device::active->copy(rows.first, from, rows.length)
               : device::active->copy_rows(rows.first, rows.stride, from, rows.length, rows.length, rows.count);
  });
}

}  // namespace weft::datatype
