// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// A page of a host's shared segment, behind the notes, through which its ranks tell each other that the job ends, and
// where the connections are by which its first rank, the keeper, notices that another host is lost
// (transport/net/lifeline.hpp). Only jobs on several hosts have it: on one host the launcher sees to it. It is touched
// when such a job starts.

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace weft::boot {

struct HeldLine {
  int32_t descriptor;  // of the keeper; -1: there is none
  int32_t rank;        // at the other end
  uint32_t above;      // the other host is nearer to the root of the tree
  uint32_t reserved;
  uint64_t key[2];  // of its words
  char host[224];   // for people, ends with a zero
};
static_assert(sizeof(HeldLine) == 256);

struct alignas(4096) HostPage {
  static constexpr int most_lines = 3;

  // 0 while the job lives; then the rank that set it first (from 0) has said why, or was told that another has.
  std::atomic<uint32_t> ending;
  // The keeper's process, from when its lines are there (release) until it has said goodbye; 0 otherwise.
  std::atomic<int32_t> keeper;
  uint8_t reserved[248];
  HeldLine lines[most_lines];  // written by the keeper
};
static_assert(offsetof(HostPage, lines) == 256);
static_assert(sizeof(HostPage) == 4096);

}  // namespace weft::boot
