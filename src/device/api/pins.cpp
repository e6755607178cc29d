// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "device/api/pins.hpp"

#include <bit>
#include <cstdlib>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "device/api/mappings.hpp"

namespace weft::device {
namespace {

std::mutex pins_mutex;
std::map<void*, bool>* pins = nullptr;    // by their begin, and whether they are pinned
std::map<void*, size_t>* lent = nullptr;  // by their begin
bool pins_lent = false;

// Pieces of powers of two that are not in use.
constexpr size_t least_log2 = 12, kinds = 48;
constexpr size_t most_kept = size_t{256} << 20;  // bytes
std::vector<void*>* kept = nullptr;              // [kinds]
size_t kept_bytes = 0;

size_t kind_of(size_t bytes) {
  const auto log2 = static_cast<size_t>(std::bit_width(bytes - 1));
  return bytes <= (size_t{1} << least_log2) ? 0 : log2 - least_log2;
}

// With the mutex, as unpin().
void pin(void* memory, size_t bytes) {
  if (pins == nullptr) pins = new std::map<void*, bool>;
  if (pins->find(memory) == pins->end()) (*pins)[memory] = active->pin(memory, bytes);
}

void unpin(void* memory) {
  const auto found = pins->find(memory);
  if (found == pins->end()) return;
  if (found->second) active->unpin(memory);
  pins->erase(found);
}

}  // namespace

void* take_pinned(size_t bytes) {
  const size_t kind = kind_of(bytes);
  if (kind >= kinds) return nullptr;
  const size_t whole = size_t{1} << (kind + least_log2);
  {
    std::lock_guard guard(pins_mutex);
    if (kept != nullptr && !kept[kind].empty()) {
      void* const memory = kept[kind].back();
      kept[kind].pop_back();
      kept_bytes -= whole;
      return memory;
    }
  }
  void* const memory = std::aligned_alloc(4096, whole);
  if (memory != nullptr) pin_once(memory, whole);
  return memory;
}

void give_pinned(void* memory, size_t bytes) {
  const size_t kind = kind_of(bytes), whole = size_t{1} << (kind + least_log2);
  std::lock_guard guard(pins_mutex);
  if (kept == nullptr) kept = new std::vector<void*>[kinds];
  if (kept_bytes + whole <= most_kept) {
    kept[kind].push_back(memory);
    kept_bytes += whole;
    return;
  }
  if (pins != nullptr) unpin(memory);
  std::free(memory);
}

void pin_once(void* memory, size_t bytes) {
  std::lock_guard guard(pins_mutex);
  pin(memory, bytes);
}

void lend(void* memory, size_t bytes) {
  std::lock_guard guard(pins_mutex);
  if (lent == nullptr) lent = new std::map<void*, size_t>;
  (*lent)[memory] = bytes;
  if (pins_lent) pin(memory, bytes);
}

void pin_lent() {
  std::lock_guard guard(pins_mutex);
  if (std::exchange(pins_lent, true) || lent == nullptr) return;
  for (const auto& [memory, bytes] : *lent) pin(memory, bytes);
}

void unpin(void* memory, size_t bytes) {
  std::lock_guard guard(pins_mutex);
  void* const end = static_cast<char*>(memory) + bytes;
  if (lent != nullptr) lent->erase(lent->lower_bound(memory), lent->lower_bound(end));
  if (lent != nullptr && lent->empty()) delete std::exchange(lent, nullptr);
  if (pins == nullptr) return;
  for (auto at = pins->lower_bound(memory); at != pins->end() && at->first < end;) unpin((at++)->first);
}

void close() {
  if (!on()) return;
  unmap_all();
  std::lock_guard guard(pins_mutex);
  for (size_t kind = 0; kept != nullptr && kind < kinds; ++kind) {
    for (void* memory : kept[kind]) {
      if (pins != nullptr) unpin(memory);
      std::free(memory);
    }
  }
  delete[] kept;
  kept = nullptr;
  kept_bytes = 0;
  pins_lent = false;
  if (pins == nullptr) return;
  for (const auto& [memory, pinned] : *pins) {
    if (pinned) active->unpin(memory);
  }
  delete pins;
  pins = nullptr;
}

}  // namespace weft::device
