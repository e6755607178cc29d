// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Notices that a process of this host has ended without leaving its job, where the launcher is not ours: some wait then
// for the others, which wait for that one. Waiting ranks look; each watches those behind it in the order of places, a
// limited number, so that those of a host are watched by several. docs/design/hosts.md, "When a host or a rank is
// lost".

#include <atomic>
#include <functional>
#include <vector>

#include "base/descriptor.hpp"
#include "transport/net/socket.hpp"
#include "transport/shm/layout.hpp"

namespace weft::transport::shm {

class ProcessWatch {
 public:
  // The object watches the first `watched` of the `places` of the host's memory in `segment`; `rank_at` gives the rank
  // of a place.
  ProcessWatch(int place, int watched, int places, const base::Descriptor& segment,
               std::function<int(int place)> rank_at);

  // Looks at all of them, and reports one that has ended. Cheap, but system calls. Thread-safe.
  void look();

 private:
  struct Seen {
    int place;
    int pid = 0;          // 0: it has not started, or has left
    net::Socket process;  // readable when it has ended
  };

  int pid_of(int place) const;
  [[nodiscard]] bool find(Seen& seen) const;
  void lose(const Seen& seen) const;

  const base::Descriptor segment_;
  const SegmentLayout layout_;
  const std::function<int(int place)> rank_at_;
  std::vector<Seen> others_;
  std::atomic<bool> looking_ = false;
};

}  // namespace weft::transport::shm
