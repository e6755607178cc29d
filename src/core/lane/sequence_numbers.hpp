// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Numbers of messages whose predecessors may still be under way: those to a process with several lanes over a transport
// that cannot drain() them (Capabilities::drains). A sender numbers them by receiver and slot of the context, 1, 2, 3
// and so on, over all lanes. The receiver counts what came on each lane. From both it tells whether a message is
// missing that was sent before another one: docs/design/matching.md, "Numbers".

#include <array>
#include <cstdint>
#include <unordered_map>

#include "core/thread/stamp.hpp"

namespace weft::core {

struct Unexpected;

// The messages of one sender and slot that came on one lane.
struct LaneTally {
  uint64_t arrived = 0;  // how many
  uint64_t top = 0;      // the largest number among them
  uint64_t watched = 0;  // the receiver waits until all up to this number are there; 0: for none
  uint64_t late = 0;     // how many of those came since it waits

  // Counts an arrival; returns whether the receiver waits for it.
  bool add(uint64_t number);
};

// The tallies of a lane, under its lock.
class Tallies {
 public:
  LaneTally& of(int32_t from, uint32_t context) { return senders_[from][Stamps::place_of(context)]; }

 private:
  std::unordered_map<int32_t, std::array<LaneTally, Stamps::count>> senders_;
};

// The gaps in the numbers of one sender and slot, over all lanes; it is used with all lanes held.
struct GapWatch {
  uint64_t complete = 0;  // all up to this number are there
  uint64_t watched = 0;   // the number that is waited for; 0: none
  uint64_t missing = 0;   // how many up to it were missing then
};

class Watches {
 public:
  // Whether all messages are there that were sent before this one. Otherwise the lane of each that comes says so:
  // Matcher::unsettled().
  bool is_next(const Unexpected& message);

 private:
  std::unordered_map<uint64_t, GapWatch> watches_;
};

}  // namespace weft::core
