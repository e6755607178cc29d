// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "device/kernel/kernel.hpp"

#include <algorithm>

namespace weft::device {

KernelRun run_at(const KernelLayout& layout, int64_t position) {
  int64_t turn = position / layout.block;
  int64_t inside = position % layout.block;
  int64_t bytes = layout.block - inside;
  uint64_t address = layout.place;
  if (const List* list = layout.list) {
    const int64_t* end = list->packed + list->count;
    const int64_t i = std::upper_bound(list->packed, end, inside) - list->packed - 1;
    address += static_cast<uint64_t>(list->offset[i]);
    bytes = list->packed[i + 1] - inside;
    inside -= list->packed[i];
  }
  address += static_cast<uint64_t>(inside);
  for (int i = layout.loops; i-- > 0;) {
    const KernelLayout::KernelLoop& loop = layout.loop[i];
    address += static_cast<uint64_t>(i == 0 ? turn * loop.stride : turn % loop.count * loop.stride);
    turn /= loop.count;
  }
  return {address, bytes};
}

}  // namespace weft::device
