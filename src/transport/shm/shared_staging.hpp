// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The staging buffers that the ranks of a host share (WEFT_MINIMUM_MEMORY): WEFT_STAGING_BUFFERS for all of them, and
// one of each rank's own behind these. A rank that finds the shared ones in use has that one, so what the others do
// keeps none from sending.
//
//   words, one for each buffer | buffers
//
// A word names the place that has claimed its buffer, and counts the claims. A sender claims by compare-and-swap
// (acquire); its message names the buffer and the count; the receiver frees by compare-and-swap from just that
// (release). So nobody waits for another, and what a message names that its sender has not claimed is not read.
// Buffers of a process that was lost are freed by one that finds none, and by the next process in its place. The lowest
// free buffers are claimed, so that no more of them get memory than are in use at a time.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/descriptor.hpp"
#include "transport/api/transport.hpp"
#include "transport/shm/layout.hpp"

namespace weft::transport::shm {

class SharedStaging {
 public:
  // The buffers are those in the segment of a job with so many places on the host.
  SharedStaging(const SegmentLayout& layout, const base::Descriptor& segment, int places);
  ~SharedStaging();
  SharedStaging(const SharedStaging&) = delete;
  SharedStaging& operator=(const SharedStaging&) = delete;

  // Claims buffers for the process at `place`; the result is without memory if not so many are free in a row.
  // Thread-safe.
  Staging claim(int place, size_t bytes);
  // The bytes that a message of the process at `place` names; nullptr: it has not claimed them.
  const void* find(int place, uint64_t handle, size_t bytes) const;
  // Called by the receiver, which has read them, or by the sender, which has not sent them.
  void free(int place, uint64_t handle, size_t bytes);
  // Frees all that the process had which was at `place` before.
  void free_all(int place);

  Span memory() const { return {buffers_, layout_.staging_buffer * buffers_in_all()}; }

 private:
  // A word: the claims in the upper half, `has_memory`, and one more than the claimer's place, or 0.
  using Word = uint64_t;
  static constexpr Word has_memory = Word{1} << 31;
  static constexpr Word place_mask = has_memory - 1;
  static constexpr int claims_shift = 32;

  size_t shared() const { return static_cast<size_t>(layout_.staging_buffers); }
  size_t buffers_in_all() const { return shared() + static_cast<size_t>(places_); }
  size_t buffers_for(size_t bytes) const {
    return bytes <= layout_.staging_buffer ? 1 : (bytes - 1) / layout_.staging_buffer + 1;
  }
  std::atomic<Word>& word(size_t number) const { return words_[number]; }
  [[nodiscard]] bool claim_one(int place, size_t number);
  [[nodiscard]] bool claim_row(int place, size_t count, size_t& first);
  void free_one(int place, size_t number);
  bool belongs_to(int place, uint64_t handle, size_t bytes) const;
  void reserve(size_t at, size_t bytes) const;
  void free_lost();

  const SegmentLayout& layout_;
  const base::Descriptor segment_;
  const int places_;
  char* mapped_;
  std::atomic<Word>* words_;
  char* buffers_;
  std::atomic<int64_t> looked_s_ = -1;  // when lost processes were looked for
};

}  // namespace weft::transport::shm
