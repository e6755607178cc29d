// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Which processes of a job are connected: those of one world, and those that have a communicator in common, directly or
// through others. Only a job on one host has them, in its segment behind the notes: a row of bits for each place, a bit
// for each other place. A process notes itself in its own row when it makes a communicator with processes of other
// worlds, and in both rows that it has left the last one; the launcher writes it before the process starts, and reads
// all rows when one has died: those that are connected with it end too, and no others.

#include <cstdint>
#include <vector>

#include "base/descriptor.hpp"

namespace weft::boot {

class Ties {
 public:
  Ties() = default;
  // The job has so many places, and began with the first `started` of them.
  Ties(const base::Descriptor& segment, int places, int started)
      : segment_(segment), places_(places), started_(started) {}

  // False with errno: there is no memory for it.
  [[nodiscard]] bool tie(int place, int other) const;
  // For both sides: a process that has left the last communicator that it shared with another may end, though the other
  // is still on its way out of it.
  [[nodiscard]] bool cut(int place, int other) const;
  // The row of a place alone, before or after the life of its process.
  [[nodiscard]] bool clear(int place) const;
  // All places connected with this one, itself among them, in order.
  [[nodiscard]] std::vector<int> connected_with(int place) const;

 private:
  [[nodiscard]] bool change(int place, int other, bool tied) const;

  base::Descriptor segment_;
  int places_ = 0;
  int started_ = 0;
};

}  // namespace weft::boot
