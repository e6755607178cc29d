// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "device/pins.hpp"

#include <map>
#include <mutex>

#include "device/mappings.hpp"

namespace weft::device {
namespace {

std::mutex mutex;
std::map<void*, bool>* known = nullptr;  // what was asked for, and whether it is pinned

}  // namespace

void pin_once(void* memory, size_t bytes) {
  std::lock_guard guard(mutex);
  if (known == nullptr) known = new std::map<void*, bool>;
  if (known->find(memory) == known->end()) (*known)[memory] = active->pin(memory, bytes);
}

void close() {
  if (!on()) return;
  unmap_all();
  std::lock_guard guard(mutex);
  if (known == nullptr) return;
  for (const auto& [memory, pinned] : *known) {
    if (pinned) active->unpin(memory);
  }
  delete known;
  known = nullptr;
}

}  // namespace weft::device
