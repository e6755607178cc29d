// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/memory/on_device.hpp"

#include <algorithm>
#include <cstring>

#include "base/copy.hpp"
#include "device/api/device.hpp"

namespace weft::core::memory {
namespace {

// Whether it went well.
bool move(void* to, const void* from, size_t bytes) {
  if (!device::owns(to) && !device::owns(from)) {
    base::copy(to, from, bytes);
    return true;
  }
  const std::string problem = device::active->copy(to, from, bytes);
  if (!problem.empty()) device::fail(problem);
  return problem.empty();
}

}  // namespace

void move_bytes(void* to, const void* from, size_t bytes) {
  (void)move(to, from, bytes);
}

void update_on_device(const Region& region, const Update& update, const void* in, char* at, void* old, int64_t count) {
  const Element& element = update.element;
  alignas(element_most) char there[16 << 10];
  const int64_t most = static_cast<int64_t>(sizeof there) / element.extent();
  const auto* from = static_cast<const char*>(in);
  auto* before = static_cast<char*>(old);
  while (count > 0) {
    const int64_t some = std::min(count, most);
    const auto bytes = static_cast<size_t>(some * element.extent());
    {
      const Updating held(*region.updates, stripes_of(offset_of(region, at), bytes));
      if (!move(there, at, bytes)) return;
      if (before != nullptr) pack_elements(element, there, before, some);
      if (update.reduction != datatype::Reduction::no_op) {
        update_elements(update, from, there, some);
        if (!move(at, there, bytes)) return;
      }
    }
    from += some * element.size();
    if (before != nullptr) before += some * element.size();
    at += bytes;
    count -= some;
  }
}

void swap_on_device(const Region& region, const Element& element, const void* value, const void* compare, char* at,
                    void* old) {
  const auto bytes = static_cast<size_t>(element.size());
  const Updating held(*region.updates, stripes_of(offset_of(region, at), bytes));
  if (move(old, at, bytes) && std::memcmp(old, compare, bytes) == 0) (void)move(at, value, bytes);
}

}  // namespace weft::core::memory
