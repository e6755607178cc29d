// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/memory.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include "base/address_space.hpp"
#include "base/bytes.hpp"
#include "base/message.hpp"
#include "boot/job/segment.hpp"
#include "boot/job/status.hpp"
#include "pages/huge.hpp"
#include "pages/wish.hpp"

namespace weft::transport::shm {
namespace {

std::string reason_of(int error) {
  char text[128];
  return strerror_r(error, text, sizeof text);
}

// A rank's heap, as much of it as there is address space for. nullptr with errno: none.
char* map_heap_of(const SegmentLayout& layout, int place, int fd, size_t& bytes) {
  constexpr size_t least = size_t{1} << 20;
  bytes = layout.heap;
  void* const heap = base::reserve_address_space(bytes, least, [&](size_t some) {
    return base::map_aligned(some, pages::huge_boundary, MAP_SHARED | MAP_NORESERVE, fd, layout.heap_at(place));
  });
  if (heap == MAP_FAILED) return nullptr;
  (void)madvise(heap, bytes, MADV_DONTDUMP);  // a core dump would read it page by page, and fill its holes
  return static_cast<char*>(heap);
}

bool is_plain(const pages::Wish& wish) {
  return wish.affinity == pages::Affinity::system && wish.policy != pages::Policy::interleave &&
         wish.page == pages::base_page;
}

Slots slots_of_huge(size_t page) {
  return {.least_log2 = static_cast<uint32_t>(std::countr_zero(page))};
}

}  // namespace

// ---- Our own

SegmentMemory::~SegmentMemory() {
  if (mapped_heap_ != nullptr) munmap(mapped_heap_, mapped_bytes_);
  if (first_line_ != nullptr) munmap(first_line_, sizeof *first_line_);
  for (HugePageFile& huge : huge_) huge.file.close();
}

bool SegmentMemory::open() {
  std::lock_guard guard(mutex_);
  if (first_line_ == nullptr) {
    void* const head =
        mmap(nullptr, sizeof(boot::RankStatus), PROT_READ | PROT_WRITE, MAP_SHARED, segment_.needed(), 0);
    if (head == MAP_FAILED) return false;
    first_line_ = &boot::status_of(head, 0);
    promises_.open(segment_, &first_line_->promised);
    if (layout_.slots != 0) large_.open(segment_, layout_.slots_at(place_));
  }
  if (layout_.heap == 0 || mapped_heap_ != nullptr) return true;
  mapped_heap_ = map_heap_of(layout_, place_, segment_.needed(), mapped_bytes_);
  if (mapped_heap_ == nullptr) return false;
  heap_.open(segment_, mapped_heap_, layout_.heap_at(place_), mapped_bytes_);
  return true;
}

void* SegmentMemory::allocate(size_t bytes, size_t alignment) {
  return open() ? heap_.allocate(bytes, alignment, Heap::Pages::reserved) : nullptr;
}

// nullptr with errno: the system has no such pages, or we have files of other sizes already.
SegmentMemory::HugePageFile* SegmentMemory::huge_pages(size_t page) {
  std::lock_guard guard(mutex_);
  for (HugePageFile& huge : huge_) {
    if (huge.page == page) return &huge;
    if (huge.page != 0) continue;
    const Slots slots = slots_of_huge(page);
    const int made = boot::create_huge_file(page, slots.total());
    if (made < 0) return nullptr;
    huge.file = {made, "huge pages"};
    huge.pieces.open(huge.file, 0, slots, Large::LargePages::reserved_huge);
    huge.page = page;
    struct stat file = {};
    if (control_ != nullptr && fstat(made, &file) == 0) {
      HugeFile& published = control_->huge[&huge - huge_];
      published.page_log2 = slots.least_log2;
      published.device = file.st_dev;
      published.inode = file.st_ino;
      published.descriptor.store(static_cast<uint32_t>(made) + 1, std::memory_order_release);
    }
    any_huge_.fetch_add(1, std::memory_order_relaxed);
    return &huge;
  }
  errno = ENFILE;
  return nullptr;
}

void* SegmentMemory::find_huge(size_t& bytes, const pages::Plan& plan) {
  HugePageFile* const huge = huge_pages(plan.huge);
  if (huge == nullptr) return nullptr;
  const size_t whole = base::to_multiple(bytes, plan.huge);
  void* const memory = huge->pieces.allocate(whole, std::max(plan.alignment, plan.huge));
  if (memory != nullptr) bytes = whole;
  return memory;
}

// Large pieces are mapped by themselves: the heap is for many small ones, which peers map all at once.
void* SegmentMemory::find_room(size_t& bytes, const pages::Plan& plan, pages::Grant& grant) {
  bytes = base::to_multiple(bytes, pages::base_page);
  if (!promises_.make(bytes, grant.problem)) return nullptr;
  void* memory = nullptr;
  if (layout_.slots != 0 && bytes > heap_.size() / 4) memory = large_.allocate(bytes, plan.alignment);
  if (memory == nullptr) memory = heap_.allocate(bytes, plan.alignment, Heap::Pages::untouched);
  if (memory == nullptr && layout_.slots != 0) memory = large_.allocate(bytes, plan.alignment);
  if (memory != nullptr) return memory;
  grant.problem = layout_.slots == 0
                      ? "WEFT_HEAP_BYTES is " + base::shown_bytes(layout_.heap) + ": raise it"
                      : "no address space is left (" + reason_of(errno) + "): raise the limit on it (ulimit -v)";
  promises_.end(bytes);
  return nullptr;
}

pages::Grant SegmentMemory::grant(size_t bytes, const pages::Wish& wish) {
  pages::Grant grant;
  pages::Plan plan;
  bytes = std::max<size_t>(bytes, 1);
  if (bytes > static_cast<size_t>(INT64_MAX) - wish.page) {
    grant.problem = "no machine has so much";
    return grant;
  }
  if (!open()) {
    grant.problem = "no address space is left (" + reason_of(errno) + "): raise the limit on it (ulimit -v)";
    return grant;
  }
  if (!pages::make_plan(wish, bytes, system_, plan, grant)) return grant;
  if (plan.huge != 0) {
    grant.memory = find_huge(bytes, plan);
    if (grant.memory == nullptr && !pages::without_huge(wish, reason_of(errno), plan, grant)) return grant;
  }
  if (grant.memory == nullptr) grant.memory = find_room(bytes, plan, grant);
  if (grant.memory == nullptr) return grant;
  if (!pages::carry_out(wish, plan, grant.memory, bytes, system_, grant)) {
    (void)release(grant.memory);
    grant.memory = nullptr;
    return grant;
  }
  if (!is_plain(wish)) {
    std::lock_guard guard(mutex_);
    known_[reinterpret_cast<uintptr_t>(grant.memory)] = {bytes, grant};
  }
  if (!grant.fallback.empty()) say_once(wish, grant);
  return grant;
}

// One rank of a host speaks: the others would say the same.
void SegmentMemory::say_once(const pages::Wish& wish, const pages::Grant& grant) {
  if (first_line_->fell_back.exchange(1, std::memory_order_relaxed) != 0) return;
  base::warn({.cause = "memory is not as wished (affinity " + pages::shown_affinity(wish.affinity, wish.node) +
                       ", policy " + pages::shown_policy(wish.policy) + ", page size " + pages::shown_page(wish.page) +
                       "): " + grant.fallback,
              .remedy = "see weft info memory; the policy Mandatory makes this an error"});
}

bool SegmentMemory::granted(const void* memory, pages::Grant& grant) {
  const auto at = reinterpret_cast<uintptr_t>(memory);
  {
    std::lock_guard guard(mutex_);
    auto after = known_.upper_bound(at);
    if (after != known_.begin() && at - (--after)->first < after->second.bytes) {
      grant = after->second.grant;
      return true;
    }
  }
  grant = {};
  return key_of(memory, 1) != MemoryRef::no_key;
}

bool SegmentMemory::release(void* memory) {
  {
    std::lock_guard guard(mutex_);
    const auto found = known_.find(reinterpret_cast<uintptr_t>(memory));
    if (found != known_.end()) {
      // The kernel keeps the policy of a file's pages with the file.
      if (!found->second.grant.nodes.empty())
        (void)system_.bind(memory, found->second.bytes, pages::PolicyMode::reset, {});
      known_.erase(found);
    }
  }
  if (const Heap::Piece piece = heap_.release(memory); piece.bytes != 0) {
    if (piece.pages == Heap::Pages::untouched) promises_.end(piece.bytes);
    return true;
  }
  if (const size_t bytes = large_.release(memory); bytes != 0) {
    promises_.end(bytes);
    return true;
  }
  return std::any_of(std::begin(huge_), std::begin(huge_) + any_huge_.load(std::memory_order_relaxed),
                     [&](HugePageFile& huge) { return huge.pieces.release(memory) != 0; });
}

uint64_t SegmentMemory::huge_key_of(const void* address, size_t bytes) const {
  for (size_t i = 0; i < most_huge_files; ++i) {
    if (const auto at = huge_[i].pieces.file_offset(address, bytes)) return huge_key | i << huge_file_shift | *at;
  }
  return MemoryRef::no_key;
}

// ---- A peer's

PeerMemory::~PeerMemory() {
  if (char* const heap = heap_.load(std::memory_order_relaxed)) munmap(heap, heap_bytes_);
  for (const auto& [key, slot] : slots_) munmap(slot.first, slot.second);
  for (base::Descriptor& file : huge_files_) file.close();
}

char* PeerMemory::map_heap() {
  std::lock_guard guard(mutex_);
  char* heap = heap_.load(std::memory_order_relaxed);
  if (heap != nullptr) return heap;
  heap = map_heap_of(layout_, place_, segment_.needed(), heap_bytes_);
  heap_.store(heap, std::memory_order_release);
  return heap;
}

// A key comes from the peer: its parts are checked before they are used.
char* PeerMemory::find_apart(uint64_t key, size_t bytes) {
  std::lock_guard guard(mutex_);
  if (const uint64_t first = layout_.slots_at(place_); key - first < layout_.slots)
    return find_in_slot(segment_.needed(), first, {}, key, key - first, bytes);
  if ((key & huge_key) == 0) return nullptr;
  const uint64_t number = (key & ~huge_key) >> huge_file_shift;
  const uint64_t at = key & ((uint64_t{1} << huge_file_shift) - 1);
  size_t page = 0;
  const int file = number < most_huge_files ? huge_file(number, page) : -1;
  if (file < 0 || at >= slots_of_huge(page).total()) return nullptr;
  return find_in_slot(file, 0, slots_of_huge(page), key, at, bytes);
}

// A slot once mapped stays right whatever the peer allocates there: its pages are the peer's in any case.
char* PeerMemory::find_in_slot(int file, uint64_t first, Slots slots, uint64_t key, uint64_t at, size_t bytes) {
  const MemorySlot slot = slots.slot_of(at);
  const uint64_t inside = at - slot.begin;
  if (bytes > slot.bytes - inside) return nullptr;
  auto& [memory, size] = slots_[key - inside];
  if (memory != nullptr) return memory + inside;
  void* const mapped = base::map_aligned(slot.bytes, std::min<size_t>(slot.bytes, size_t{1} << 30),
                                         MAP_SHARED | MAP_NORESERVE, file, first + slot.begin);
  if (mapped == MAP_FAILED) return nullptr;
  (void)madvise(mapped, slot.bytes, MADV_DONTDUMP);
  memory = static_cast<char*>(mapped);
  size = slot.bytes;
  return memory + inside;
}

// -1: the peer has no such file, or we may not open it.
int PeerMemory::huge_file(size_t number, size_t& page) {
  const HugeFile& published = control_->huge[number];
  const uint32_t descriptor = published.descriptor.load(std::memory_order_acquire);
  if (descriptor == 0 || published.page_log2 < 16 || published.page_log2 > 34) return -1;
  page = size_t{1} << published.page_log2;
  if (const int known = huge_files_[number].number(); known >= 0) return known;
  const std::string address = std::to_string(control_->pid.load(std::memory_order_relaxed)) + ":" +
                              std::to_string(descriptor - 1) + ":" + std::to_string(published.device) + ":" +
                              std::to_string(published.inode);
  huge_files_[number] = {boot::open_segment(address), "huge pages of another rank"};
  return huge_files_[number].unchecked();
}

}  // namespace weft::transport::shm
