// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdlib>
#include <mutex>
#include <new>

#include "core/message/completion.hpp"
#include "mpi/p2p/bsend.hpp"

namespace weft::mpi {

// An entry begins at the next aligned address, wherever the model lets it begin.
static_assert(sizeof(BsendEntry) + alignof(BsendEntry) <= least_bsend_overhead);

constinit base::Lock bsend_lock;

BsendBuffer::BsendBuffer(BsendBuffer** place_of_owner, void* user_memory, int64_t user_size, int64_t user_overhead)
    : place(place_of_owner), memory(user_memory), size(user_size), overhead(user_overhead) {}

BsendEntry* BsendBuffer::find_room(int64_t bytes) {
  reclaim();
  int64_t at = 0;
  if (oldest == nullptr) {
    if (bytes > size) return nullptr;
    begin_ = 0;
  } else if (newest->end > begin_) {  // free: behind the newest, then in front of the oldest
    at = newest->end;
    if (bytes > size - at) {
      at = 0;
      if (bytes > begin_) return nullptr;
    }
  } else {  // the queue went round: free between the newest and the oldest
    at = newest->end;
    if (bytes > begin_ - at) return nullptr;
  }
  const uintptr_t align = alignof(BsendEntry);
  const uintptr_t address =
      (reinterpret_cast<uintptr_t>(memory) + static_cast<uintptr_t>(at) + align - 1) & ~(align - 1);
  auto* entry = ::new (reinterpret_cast<void*>(address)) BsendEntry;
  entry->end = at + bytes;
  return entry;
}

BsendEntry* BsendBuffer::append(int64_t data_bytes) {
  BsendEntry* entry;
  if (automatic()) {
    void* fresh = std::malloc(sizeof(BsendEntry) + static_cast<size_t>(data_bytes));
    entry = fresh == nullptr ? nullptr : ::new (fresh) BsendEntry;
  } else {
    entry = data_bytes > size ? nullptr : find_room(data_bytes + overhead);
  }
  if (entry == nullptr) return nullptr;
  entry->buffer = this;
  entry->number = ++numbered_;
  entry->older = newest;
  (newest == nullptr ? oldest : newest->newer) = entry;
  newest = entry;
  return entry;
}

void BsendBuffer::unlink(BsendEntry* entry) {
  (entry->older == nullptr ? oldest : entry->older->newer) = entry->newer;
  (entry->newer == nullptr ? newest : entry->newer->older) = entry->older;
}

// The model frees entries from the oldest up to the first whose message is still there.
void BsendBuffer::reclaim() {
  while (oldest != nullptr && !oldest->pending) {
    BsendEntry* entry = oldest;
    unlink(entry);
    begin_ = oldest == nullptr ? 0 : entry->end;
    // Where the queue went round, the next entry is at the front.
    if (oldest != nullptr && oldest->end < entry->end) begin_ = 0;
  }
}

bool BsendBuffer::is_empty_or_notifies(Request& request) {
  reclaim();
  if (oldest == nullptr) return true;
  request.moved = static_cast<int64_t>(numbered_);
  request.next = nullptr;
  Request** end = &waiting;
  while (*end != nullptr) end = &(*end)->next;
  *end = &request;
  return false;
}

// The requests whose messages have left, which are the first of those that wait.
Request* BsendBuffer::take_ready() {
  auto ready = [this](const Request& r) {
    return oldest == nullptr || oldest->number > static_cast<uint64_t>(r.moved);
  };
  Request* taken = nullptr;
  Request** end = &taken;
  while (waiting != nullptr && ready(*waiting)) {
    *end = waiting;
    end = &waiting->next;
    waiting = waiting->next;
  }
  *end = nullptr;
  return taken;
}

void BsendBuffer::finished(BsendEntry* entry) {
  BsendBuffer& buffer = *entry->buffer;
  Request* ready = nullptr;
  {
    std::lock_guard lock(bsend_lock);
    entry->pending = false;
    if (buffer.automatic()) {
      buffer.unlink(entry);
      std::free(entry);
    } else {
      buffer.reclaim();
    }
    ready = buffer.take_ready();
  }
  while (ready != nullptr) {
    Request* next = ready->next;
    core::complete(*ready);
    ready = next;
  }
}

}  // namespace weft::mpi
