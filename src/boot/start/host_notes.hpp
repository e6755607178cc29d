// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The ranks of a host that a launcher with a key-value space has started (boot/pmi/kvs.hpp): they map the host's
// segment, exchange notes there, and the first of them publishes those of all, where the launcher has said which rank
// is where.

#include <cstdint>
#include <string>
#include <vector>

#include "base/cpus.hpp"
#include "boot/connect/fd_passing.hpp"
#include "boot/job/job.hpp"
#include "boot/job/notes.hpp"
#include "boot/pmi/kvs.hpp"
#include "boot/start/record.hpp"

namespace weft::boot {

// The key under which rank 0 of a job on several hosts publishes the job's secret.
constexpr const char* secret_key = "weft-secret";

class HostNotes {
 public:
  // `here`: the job's ranks on this host, in the first of the segment's `places`. The key-value space outlives the
  // calls below.
  HostNotes(Kvs& kvs, const Job& job, const std::vector<int>& here, int places);
  ~HostNotes() { notes_.close(); }
  HostNotes(const HostNotes&) = delete;
  HostNotes& operator=(const HostNotes&) = delete;

  // All ranks of this host have the segment once this is over. Each says which processors it may use, the first how
  // many that is together, and the secret of a job on several hosts. Meanwhile the first sends the segment to callers
  // at the socket.
  void meet(Job& job, const ListeningSocket& socket);

  // The first rank of a host speaks for all of it where everybody knows which rank that is.
  bool speak_for_all() const { return kvs_.mapping().known(); }
  // Then: a value of this rank, which the next publish() makes known; and the value that the rank with this slot of the
  // launcher has written under a key.
  void write(const std::string& key, const std::string& value);
  void publish(void (*meanwhile)());
  [[nodiscard]] std::string value_of(int slot, const std::string& key);

  // The page behind the notes; nullptr, with errno: there is no memory.
  [[nodiscard]] HostPage* host_page() const { return notes_.host_page(); }

 private:
  void must(bool done) const;
  template <typename Act>
  void wait_for(int place, const Act& meanwhile) const;
  std::vector<base::CpuSet> masks(const Job& job, const ListeningSocket& socket) const;
  void tell_all(Job& job, const ListeningSocket& socket, base::CpuSet& reserved);

  Kvs& kvs_;
  Notes notes_;
  int ranks_ = 0;
  int place_ = 0;
  uint32_t turn_ = 1;  // of the notes: one for each barrier
  Records records_;
};

}  // namespace weft::boot
