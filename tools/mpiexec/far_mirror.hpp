// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The lines of a job's ranks (boot/job/status.hpp) as the mpiexec of another host has them: each mpiexec sends those of
// its own ranks that have changed, and keeps a copy of the other job's in memory for its own processes.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "boot/connect/packet.hpp"

namespace weft::boot {
struct RankStatus;
}

namespace weft::mpiexec {

// The lines of our ranks, in our segment.
class OwnLines {
 public:
  ~OwnLines();
  OwnLines() = default;
  OwnLines(const OwnLines&) = delete;
  OwnLines& operator=(const OwnLines&) = delete;

  void begin(int segment, int places);
  // Puts those that have changed since `told`, which has the status of each as another job knows it; all of them at
  // first. False: there is nothing to say.
  [[nodiscard]] bool put_news(std::vector<uint64_t>& told, boot::Packet& packet);

 private:
  int segment_ = -1;
  int places_ = 0;
  const boot::RankStatus* lines_ = nullptr;
};

// The copy of another job's.
class FarMirror {
 public:
  ~FarMirror();
  FarMirror() = default;
  FarMirror(const FarMirror&) = delete;
  FarMirror& operator=(const FarMirror&) = delete;

  // False: there is no memory for it.
  [[nodiscard]] bool make(int places);
  [[nodiscard]] bool is_made() const { return lines_ != nullptr; }
  // The segment that our processes open.
  [[nodiscard]] int descriptor() const { return descriptor_; }

  // Takes what put_news() has put; false: it is something else.
  [[nodiscard]] bool take_news(boot::Packet& packet);
  // Whether the process of this generation is at the place.
  [[nodiscard]] bool is_there(int64_t place, int64_t generation) const;
  // Nothing of the job is known any more; our processes see that.
  void end();

 private:
  int places_ = 0;
  int descriptor_ = -1;
  boot::RankStatus* lines_ = nullptr;  // one more than there are places, which says whether the job is gone
  size_t bytes_ = 0;
};

}  // namespace weft::mpiexec
