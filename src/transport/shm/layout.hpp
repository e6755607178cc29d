// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The layout of the segment that all ranks of a host share. The segment is a sparse memfd: pages are reserved by
// whoever touches them first, so a rank that is never contacted costs its control page.
//
//   head (boot/job/notes.hpp) | rank 0 | rank 1 | ... | shared staging | heap of rank 0 | heap of rank 1 | ... |
//   slots of rank 0 | ...
//   rank: control page | staging words | ring of lane 0 | ring of lane 1 | ... | staging pool
//   shared staging: instead of the pools and their words (shared_staging.hpp); nothing otherwise
//   ring: RingControl | cells
//   slots: large pieces of memory (slots.hpp)

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "transport/shm/ring.hpp"
#include "transport/shm/slots.hpp"

namespace weft::transport::shm {

inline constexpr int max_staging_buffers = 4096;

// A file of a rank's, with memory of explicit huge pages in slots (slots.hpp) of a page and more.
struct HugeFile {
  std::atomic<uint32_t> descriptor;  // of the owner's, plus one; 0: there is none. Stored last (release)
  uint32_t page_log2;
  uint64_t device;  // by which a peer that opens the descriptor finds that it is this file
  uint64_t inode;
};
static_assert(sizeof(HugeFile) == 24);
inline constexpr int most_huge_files = 4;  // a processor has two or three sizes

// Keys of memory in such files: this bit, the number of the file, the offset in it. Offsets in the segment are smaller.
inline constexpr uint64_t huge_key = uint64_t{1} << 63;
inline constexpr int huge_file_shift = 60;

struct Control {
  alignas(128) std::atomic<uint32_t> attention;  // Endpoint::asleep, saturated
  std::atomic<int32_t> pid;                      // of the owner as it knows itself, 0 before its start and when it left
  // 0 until the owner's rings are there; then its lanes, a power of two, `spread_all` when source and tag choose, and
  // the lower bits of its generation: where a place has one process after the other, a peer waits for that one.
  std::atomic<uint32_t> lanes;
  // The proof that a process is the owner: in its memory at this address lies what is said here (Token).
  std::atomic<uint64_t> token_at;
  std::atomic<uint64_t> token[2];
  std::atomic<uint64_t> namespace_of_pid;  // in which `pid` means the owner; 0: not known
  std::atomic<uint32_t> bell;  // 0: the owner sleeps on `attention`; otherwise in poll(), and this bell wakes it
  alignas(128) Claim claims[claim_slots];
  HugeFile huge[most_huge_files];

  static constexpr uint32_t spread_all = 1u << 31;
  static constexpr uint32_t generation_shift = 8;
  static constexpr uint32_t lanes_mask = (1u << generation_shift) - 1;
  static constexpr uint32_t generation_bits(uint32_t generation) {
    return (generation << generation_shift) & ~spread_all;
  }
};
static_assert(sizeof(Control) <= 4096);

struct SegmentLayout {
  size_t released_offset;  // in a rank's region: a word for each staging buffer (StagingPool), as a rule in the control
                           // page
  size_t rings_offset;     // in a rank's region
  size_t staging_offset;   // in a rank's region
  size_t staging;          // bytes of the buffers there
  size_t staging_buffer;   // bytes of one buffer
  int staging_buffers;     // of a rank, or with a pool of all ranks together
  size_t region;           // bytes of a rank's region, whole huge pages
  size_t first_region;     // in the segment
  size_t first_pool;       // in the segment: the shared staging,
  size_t pool_buffers;     // where its buffers begin in it,
  size_t pool;             // and all its bytes; 0: each rank has staging buffers of its own
  size_t first_heap;       // in the segment
  size_t heap;             // bytes of a rank's heap, address space only until allocated
  size_t first_slots;      // in the segment
  size_t slots;            // bytes of a rank's slots, numbers only until allocated; 0: it has none
  size_t total;
  uint32_t ring_cells_log2;  // of a process with one lane

  // With more lanes the rings are smaller: together they have the size of one, but none less than 64 KiB.
  static constexpr uint32_t least_cells_log2 = 11;
  static constexpr size_t ring_control = 4096;
  uint32_t cells_log2(uint32_t lanes) const {
    const uint32_t split = ring_cells_log2 - static_cast<uint32_t>(std::countr_zero(lanes));
    return ring_cells_log2 < least_cells_log2 + static_cast<uint32_t>(std::countr_zero(lanes)) ? least_cells_log2
                                                                                               : split;
  }
  size_t ring_stride(uint32_t lanes) const { return ring_control + (size_t{cell_bytes} << cells_log2(lanes)); }
  size_t rings(uint32_t lanes) const { return ring_stride(lanes) * lanes; }

  std::atomic<uint32_t>* staging_released(char* of_rank) const {
    return reinterpret_cast<std::atomic<uint32_t>*>(of_rank + released_offset);
  }
  size_t rank_at(int rank) const { return first_region + static_cast<size_t>(rank) * region; }
  size_t heap_at(int rank) const { return first_heap + static_cast<size_t>(rank) * heap; }
  size_t slots_at(int rank) const { return first_slots + static_cast<size_t>(rank) * slots; }
};

// The layout of a job of `ranks` ranks under the settings in force, which are the same for all ranks of a job.
SegmentLayout layout_for(int ranks);

// layout_for(ranks).total, for boot::join.
size_t segment_bytes(int ranks);

}  // namespace weft::transport::shm
