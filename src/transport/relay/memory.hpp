// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The part of a host's segment by which its ranks share one endpoint: behind everything else, in jobs with
// WEFT_MINIMUM_MEMORY=host.
//
//   head | owners of the buffers to go out | page of rank 0 | page of rank 1 | ... | buffers to go out | buffers to
//   come in
//
// A buffer to go out belongs to the rank that has put its place into the owner's word, and to the host proxy from when
// it is in the rank's ring until the host proxy clears the word (release; pairs with the claim's acquire). Its memory
// is reserved when it is first claimed. A buffer to come in is the host proxy's, and a rank's from when it is in that
// one's ring until the rank has put it into its own.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/descriptor.hpp"
#include "transport/api/memory.hpp"
#include "transport/net/carrier.hpp"
#include "transport/relay/ring.hpp"

namespace weft::transport::relay {

// In front of each frame between host proxies.
struct Prefix {
  uint32_t rank;   // the receiver
  uint32_t check;  // rank_check() of it: if one of the two was changed on its way, the other tells the receiver
};
static_assert(sizeof(Prefix) == 8);
// Different for each rank.
inline uint32_t rank_check(uint32_t rank) {
  return ~rank * 0x9e3779b1;
}

inline constexpr uint32_t address_most = 256;
inline constexpr uint32_t outward_room = 64, inward_room = 16;
inline constexpr uint32_t words_of_rank = 4;
// In flight of one rank: with them, its words, the buffers that it gives back and a host its ring does not overflow.
inline constexpr uint32_t frames_most = 48;
inline constexpr uint32_t held_most = 4;  // frames that came in, of one rank
inline constexpr uint32_t credits = 8;    // of a pair of ranks
static_assert(frames_most + words_of_rank + held_most + 1 <= outward_room);

// A frame of flow control, with its prefix in front.
struct ControlFrame {
  unsigned char bytes[64];
};
static_assert(sizeof(ControlFrame) >= sizeof(Prefix) + sizeof(net::Header));

struct alignas(4096) RankPage {
  ItemRingControl outward;
  ItemRingControl inward;
  alignas(64) std::atomic<uint32_t> sent;  // frames of the rank that the host proxy is done with; by the host proxy
  std::atomic<uint32_t> waits;             // frames wait for buffers of the rank to come back; by the host proxy
  std::atomic<uint32_t> address_in_use;    // set by the rank, cleared by the host proxy
  std::atomic<uint32_t> word_in_use[words_of_rank];  // likewise
  alignas(64) ControlFrame words[words_of_rank];
  Item outward_items[outward_room];
  Item inward_items[inward_room];
  char address[address_most];
};
static_assert(sizeof(RankPage) == 4096);

struct alignas(4096) Head {
  // The host proxy stores 1 once the fields below are there (release).
  std::atomic<uint32_t> ready;
  uint32_t bell;
  uint32_t address_bytes;
  char address[address_most];
  alignas(64) std::atomic<uint32_t> asleep;  // the host proxy is: its bell is to be rung
  alignas(64) std::atomic<uint32_t> taken;   // buffers to go out that are in use
};
static_assert(sizeof(Head) == 4096);

// The prefix of a frame that goes out lies right in front of net::Buffer::bytes.
inline constexpr size_t before_frame = 64;

struct RelayLayout {
  uint32_t places;
  uint32_t outward;         // buffers,
  uint32_t staged;          // of which the first are for large messages
  uint32_t inward;          // buffers
  uint32_t held;            // of them, by one rank
  uint32_t large;           // bytes staged in one,
  uint32_t frame;           // and of the largest frame with its prefix
  uint32_t outward_stride;  // from one buffer to the next
  uint32_t inward_stride;
  size_t owners_at;
  size_t pages_at;
  size_t outward_at;
  size_t inward_at;
  size_t total;
};
// The layout for so many ranks of a host and so many buffers for their large messages.
RelayLayout layout_for(int places, HostBuffers buffers);

// A process's view of it.
class RelayMemory {
 public:
  // `offset` in the segment. Ends the job with a message when there is no address space or memory.
  RelayMemory(const base::Descriptor& segment, size_t offset, const RelayLayout& layout);
  ~RelayMemory();
  RelayMemory(const RelayMemory&) = delete;
  RelayMemory& operator=(const RelayMemory&) = delete;

  const RelayLayout& layout() const { return layout_; }
  Head& head() const { return *reinterpret_cast<Head*>(memory_); }
  RankPage& page(uint32_t place) const { return reinterpret_cast<RankPage*>(memory_ + layout_.pages_at)[place]; }
  unsigned char* outward(uint32_t number) const {
    return memory_ + layout_.outward_at + number * size_t{layout_.outward_stride};
  }
  unsigned char* inward(uint32_t number) const {
    return memory_ + layout_.inward_at + number * size_t{layout_.inward_stride};
  }
  void reserve(size_t at, size_t bytes) const;

  // A free buffer to go out for a place, of those from `first` to before `end`. false: none is free.
  [[nodiscard]] bool claim(uint32_t place, uint32_t first, uint32_t end, uint32_t& number) const;
  // Acquire: after what the rank that had it before wrote there.
  bool belongs_to(uint32_t place, uint32_t number) const {
    return (owner(number).load(std::memory_order_acquire) & ~reserved) == place + 1;
  }
  void free(uint32_t number) const;
  uint32_t free_buffers() const {
    const uint32_t taken = head().taken.load(std::memory_order_relaxed);
    return taken < layout_.outward ? layout_.outward - taken : 0;
  }

 private:
  static constexpr uint32_t reserved = 1u << 31;  // of a buffer's word: its memory is there
  std::atomic<uint32_t>& owner(uint32_t number) const {
    return reinterpret_cast<std::atomic<uint32_t>*>(memory_ + layout_.owners_at)[number];
  }

  const base::Descriptor segment_;
  const size_t offset_;
  const RelayLayout layout_;
  unsigned char* memory_;
};

}  // namespace weft::transport::relay
