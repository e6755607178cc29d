// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Which processes of a job are connected: those of one world, and those that have a communicator in common, directly or
// through others. Of a job on one host alone, in its segment behind the notes: a row of bits for each place, a bit for
// each other place. A process writes its own row when it makes or frees a communicator with processes of other worlds;
// the launcher writes it before the process starts, and reads all rows when one has died: those that are connected with
// it end too, and no others.

#include <cstdint>
#include <vector>

namespace weft::boot {

class Ties {
 public:
  Ties() = default;
  // Of so many places, of which the job began with the first `started`.
  Ties(int segment_fd, int places, int started) : fd_(segment_fd), places_(places), started_(started) {}

  // A row has one writer at a time. False with errno: there is no memory for it.
  [[nodiscard]] bool set(int place, int other, bool tied) const;
  [[nodiscard]] bool clear(int place) const;
  // All places connected with this one, itself among them, in order.
  [[nodiscard]] std::vector<int> connected_with(int place) const;

 private:
  int fd_ = -1;
  int places_ = 0;
  int started_ = 0;
};

}  // namespace weft::boot
