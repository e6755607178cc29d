// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "device/api/mappings.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

namespace weft::device {
namespace {

struct Known : Mapping {
  int64_t owner;
  Shared shared;
  int holders;
  uint64_t last_used;
};

constexpr size_t most = 64;
std::mutex mappings_mutex;
std::vector<std::unique_ptr<Known>>* mappings = nullptr;
uint64_t turn = 0;

void forget(size_t i) {
  active->unmap((*mappings)[i]->base);
  mappings->erase(mappings->begin() + static_cast<ptrdiff_t>(i));
}

bool is_same(const Known& one, int64_t owner, const Shared& shared) {
  return one.owner == owner && std::memcmp(&one.shared, &shared, sizeof shared) == 0;
}

// Unmaps what the owner has freed: it lay where an allocation of it lies now.
void forget_freed(int64_t owner, const Shared& shared) {
  for (size_t i = mappings->size(); i-- > 0;) {
    const Known& one = *(*mappings)[i];
    const bool overlaps = shared.base - one.shared.base < one.bytes || one.shared.base - shared.base < shared.bytes;
    if (one.owner == owner && overlaps && one.holders == 0) forget(i);
  }
}

// If the list is full, unmaps the least recently used one that has no holder; returns whether one more fits.
bool make_room() {
  if (mappings->size() < most) return true;
  size_t oldest = mappings->size();
  for (size_t i = 0; i < mappings->size(); ++i) {
    if ((*mappings)[i]->holders != 0) continue;
    if (oldest == mappings->size() || (*mappings)[i]->last_used < (*mappings)[oldest]->last_used) oldest = i;
  }
  if (oldest == mappings->size()) return false;
  forget(oldest);
  return true;
}

}  // namespace

Mapping* hold(int64_t owner, const Shared& shared, std::string& problem) {
  std::lock_guard guard(mappings_mutex);
  if (mappings == nullptr) mappings = new std::vector<std::unique_ptr<Known>>;
  for (const auto& one : *mappings) {
    if (!is_same(*one, owner, shared)) continue;
    ++one->holders;
    one->last_used = ++turn;
    return one.get();
  }
  forget_freed(owner, shared);
  if (!make_room()) {
    problem = std::to_string(most) + " allocations of others are mapped and in use";
    return nullptr;
  }
  void* base = nullptr;
  problem = active->map(shared, base);
  if (!problem.empty()) return nullptr;
  mappings->push_back(
      std::make_unique<Known>(Known{{static_cast<char*>(base), shared.bytes}, owner, shared, 1, ++turn}));
  return mappings->back().get();
}

void let_go(Mapping* mapping) {
  std::lock_guard guard(mappings_mutex);
  if (mappings == nullptr) return;  // unmap_all() has ended it
  for (const auto& one : *mappings) {
    if (one.get() == mapping) --one->holders;
  }
}

void unmap_all() {
  std::lock_guard guard(mappings_mutex);
  if (mappings == nullptr) return;
  while (!mappings->empty()) forget(mappings->size() - 1);
  delete mappings;
  mappings = nullptr;
}

}  // namespace weft::device
