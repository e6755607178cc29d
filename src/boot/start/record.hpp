// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The notes of all ranks of a host as one record, which its first rank hands to the launcher, and records of other
// hosts from there. One thread at a time.

#include <cstdint>
#include <string>

#include "boot/pmi/kvs.hpp"

namespace weft::boot {

class Records {
 public:
  // Publishes this host's record as that of a turn, in pieces that the launcher takes: its length, and the record. "*3"
  // says that it is still that of turn 3. False: the launcher has not taken it (Kvs::problem).
  [[nodiscard]] bool publish(Kvs& kvs, std::string record, uint32_t turn);

  // Gets the record of the host whose first rank has this slot, unless it was the last one of this turn: callers often
  // ask for the ranks of a host in turn. False as above.
  [[nodiscard]] bool fetch(Kvs& kvs, int first, uint32_t turn);
  [[nodiscard]] const std::string& fetched() const { return fetched_; }

 private:
  std::string published_;
  std::string published_in_;  // the turn in which it was
  std::string fetched_;
  int fetched_of_ = -1;
  uint32_t fetched_in_ = 0;
};

}  // namespace weft::boot
