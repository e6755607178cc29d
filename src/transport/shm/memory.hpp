// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Memory that peers of the host reach directly, on both sides: as its owner allocates it, and as a peer maps it. It is
// named by a key, which is its offset in the segment, or a file of huge pages and the offset in that (layout.hpp).

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "base/descriptor.hpp"
#include "pages/plan.hpp"
#include "transport/api/transport.hpp"
#include "transport/shm/heap.hpp"
#include "transport/shm/large.hpp"
#include "transport/shm/layout.hpp"
#include "transport/shm/promises.hpp"

namespace weft::boot {
struct RankStatus;
}

namespace weft::transport::shm {

class SegmentMemory {
 public:
  // The memory belongs to the rank at `place` of this segment.
  SegmentMemory(const SegmentLayout& layout, int place, const base::Descriptor& segment)
      : layout_(layout), place_(place), segment_(segment) {}
  ~SegmentMemory();
  void publish_in(Control* control) { control_ = control; }

  // See Transport. Thread-safe.
  [[nodiscard]] void* allocate(size_t bytes, size_t alignment);
  [[nodiscard]] pages::Grant grant(size_t bytes, const pages::Wish& wish);
  [[nodiscard]] bool granted(const void* memory, pages::Grant& grant);
  [[nodiscard]] bool release(void* memory);

  // MemoryRef::no_key: it is not of here. Thread-safe.
  uint64_t key_of(const void* address, size_t bytes) const {
    if (heap_.holds(address, bytes)) return heap_.segment_offset(address);
    return large_.file_offset(address, bytes)
        .value_or(any_huge_.load(std::memory_order_relaxed) == 0 ? MemoryRef::no_key : huge_key_of(address, bytes));
  }

 private:
  struct HugePageFile {
    size_t page = 0;  // 0 until the file is made
    base::Descriptor file;
    Large pieces;
  };
  struct KnownGrant {
    size_t bytes;
    pages::Grant grant;
  };

  [[nodiscard]] bool open();  // once; false, with errno: there is no address space
  void* find_huge(size_t& bytes, const pages::Plan& plan);
  void* find_room(size_t& bytes, const pages::Plan& plan, pages::Grant& grant);
  HugePageFile* huge_pages(size_t page);
  void say_once(const pages::Wish& wish, const pages::Grant& grant);
  [[gnu::cold]] uint64_t huge_key_of(const void* address, size_t bytes) const;

  const SegmentLayout& layout_;
  int place_;
  base::Descriptor segment_;
  Control* control_ = nullptr;
  pages::System system_;
  std::mutex mutex_;  // of opening, of making files of huge pages, and of known_
  boot::RankStatus* first_line_ = nullptr;
  char* mapped_heap_ = nullptr;
  size_t mapped_bytes_ = 0;
  Heap heap_;
  Large large_;
  Promises promises_;
  std::atomic<int> any_huge_ = 0;  // files of huge pages
  HugePageFile huge_[most_huge_files];
  std::map<uintptr_t, KnownGrant> known_;  // the wishes, by where their memory begins
};

// A peer's memory, mapped piece by piece when it is first used.
class PeerMemory {
 public:
  PeerMemory(const SegmentLayout& layout, int place, const base::Descriptor& segment, const Control* control)
      : layout_(layout), place_(place), segment_(segment), control_(control) {}
  ~PeerMemory();

  // Where `bytes` behind a key lie for us, as long as this lives; nullptr: the peer has no such memory, or there is no
  // address space. Thread-safe; a load and comparisons for memory in the peer's heap, once it is mapped.
  char* find(uint64_t key, size_t bytes) {
    if (key - layout_.heap_at(place_) >= layout_.heap) [[unlikely]]
      return find_apart(key, bytes);
    char* const heap = this->heap();
    const uint64_t at = key - layout_.heap_at(place_);
    return heap == nullptr || at > heap_bytes_ || bytes > heap_bytes_ - at ? nullptr : heap + at;
  }

 private:
  char* heap() {
    char* heap = heap_.load(std::memory_order_acquire);  // pairs with the release in map_heap()
    return heap != nullptr ? heap : map_heap();
  }
  [[gnu::cold]] char* map_heap();
  [[gnu::cold]] char* find_apart(uint64_t key, size_t bytes);
  char* find_in_slot(int file, uint64_t first, Slots slots, uint64_t key, uint64_t at, size_t bytes);
  int huge_file(size_t number, size_t& page);

  const SegmentLayout& layout_;
  int place_;
  base::Descriptor segment_;
  const Control* control_;
  std::atomic<char*> heap_ = nullptr;
  size_t heap_bytes_ = 0;                               // of it that are mapped
  std::mutex mutex_;                                    // of the rest
  std::map<uint64_t, std::pair<char*, size_t>> slots_;  // mapped, by the key of their first byte
  base::Descriptor huge_files_[most_huge_files];
};

}  // namespace weft::transport::shm
