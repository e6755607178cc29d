// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/relay/memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "base/bytes.hpp"
#include "boot/job/segment.hpp"
#include "transport/api/failure.hpp"

namespace weft::transport::relay {
namespace {

// Buffers to go out that no message keeps while it waits for its peer: this many at least, and one for each rank.
constexpr uint32_t for_messages = 8;
constexpr uint32_t inward_buffers = 64;  // at least
constexpr uint32_t posted_least = 8;     // of them, whatever ranks hold

constexpr size_t to_pages(size_t bytes) {
  return base::to_multiple(bytes, 4096);
}

}  // namespace

RelayLayout layout_for(int places, HostBuffers buffers) {
  RelayLayout layout{};
  layout.places = static_cast<uint32_t>(places);
  layout.staged = static_cast<uint32_t>(buffers.count);
  layout.outward = layout.staged + std::max(for_messages, layout.places);
  layout.inward = std::max(inward_buffers, layout.places + posted_least);
  layout.held = std::clamp((layout.inward - posted_least) / layout.places, uint32_t{1}, held_most);
  layout.large = static_cast<uint32_t>(std::min(buffers.bytes, net::staging_most));
  const size_t frame =
      sizeof(net::Header) + net::staged_data_most + std::max<size_t>(layout.large, mailbox_limit(1)) + net::tag_bytes;
  layout.frame = static_cast<uint32_t>(sizeof(Prefix) + frame);
  layout.outward_stride = static_cast<uint32_t>(before_frame + base::to_multiple(frame + 64, 64));
  layout.inward_stride = static_cast<uint32_t>(base::to_multiple(layout.frame, 64));
  layout.owners_at = sizeof(Head);
  layout.pages_at = layout.owners_at + to_pages(layout.outward * sizeof(uint32_t));
  layout.outward_at = layout.pages_at + layout.places * sizeof(RankPage);
  layout.inward_at = layout.outward_at + to_pages(layout.outward * size_t{layout.outward_stride});
  layout.total = layout.inward_at + to_pages(layout.inward * size_t{layout.inward_stride});
  return layout;
}

RelayMemory::RelayMemory(const base::Descriptor& segment, size_t offset, const RelayLayout& layout)
    : segment_(segment), offset_(offset), layout_(layout) {
  void* const mapped = mmap(nullptr, layout.total, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, segment.needed(),
                            static_cast<off_t>(offset));
  if (mapped == MAP_FAILED) {
    fail_for_good({.cause = "cannot map " + std::to_string(layout.total >> 10) +
                            " KiB of shared memory for messages between hosts",
                   .error = errno,
                   .remedy = "raise the limit on address space (ulimit -v)"});
  }
  memory_ = static_cast<unsigned char*>(mapped);
  reserve(0, layout.outward_at);
}

RelayMemory::~RelayMemory() {
  munmap(memory_, layout_.total);
}

void RelayMemory::reserve(size_t at, size_t bytes) const {
  if (boot::reserve_segment(segment_.needed(), offset_ + at, bytes)) return;
  fail_for_good({.cause = "cannot reserve " + std::to_string((bytes + 1023) >> 10) +
                          " KiB of shared memory for messages between hosts",
                 .error = errno,
                 .remedy = "free memory on this host, or raise the job's memory limit"});
}

// The lowest that is free, so that no more of them get memory than are in use at a time.
bool RelayMemory::claim(uint32_t place, uint32_t first, uint32_t end, uint32_t& number) const {
  for (number = first; number < end; ++number) {
    std::atomic<uint32_t>& word = owner(number);
    uint32_t before = word.load(std::memory_order_relaxed);
    if ((before & ~reserved) != 0) continue;
    if (!word.compare_exchange_strong(before, (before & reserved) | (place + 1), std::memory_order_acquire,
                                      std::memory_order_relaxed))
      continue;
    head().taken.fetch_add(1, std::memory_order_relaxed);
    if ((before & reserved) == 0) [[unlikely]] {
      reserve(layout_.outward_at + number * size_t{layout_.outward_stride}, layout_.outward_stride);
      word.fetch_or(reserved, std::memory_order_relaxed);
    }
    return true;
  }
  return false;
}

void RelayMemory::free(uint32_t number) const {
  head().taken.fetch_sub(1, std::memory_order_relaxed);
  owner(number).store(reserved, std::memory_order_release);
}

}  // namespace weft::transport::relay
