// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The launcher's key-value space (KVS): each rank of a job publishes values there and reads those of others. One class
// for each protocol. Every call asks and waits for the answer; on failure it returns false and `problem()` says why.

#include <string>
#include <vector>

#include "base/message.hpp"
#include "boot/job/environment.hpp"
#include "boot/pmi/process_mapping.hpp"

namespace weft::boot {

class Kvs {
 public:
  virtual ~Kvs() = default;

  // Connects, says hello and learns the limits. Rank and size, where the server alone knows them, are put into `offer`.
  [[nodiscard]] virtual bool begin(Offer& offer) = 0;

  // Publishes a value of this rank, of at most longest_value() characters: letters, digits and ":/,.@_-*". Others see
  // it after a barrier.
  [[nodiscard]] virtual bool put(const std::string& key, const std::string& value) = 0;
  // The value that `rank` published before the last barrier.
  [[nodiscard]] virtual bool get(int rank, const std::string& key, std::string& value) = 0;

  // A barrier of all ranks in two steps: between them this rank may do other things. `over` without waiting when `wait`
  // is false.
  [[nodiscard]] virtual bool start_barrier() = 0;
  [[nodiscard]] virtual bool end_barrier(bool wait, bool& over) = 0;
  [[nodiscard]] bool barrier() {
    bool over = false;
    return start_barrier() && end_barrier(true, over);
  }

  // The ranks on this host as the launcher placed them, in order; none when it does not say.
  [[nodiscard]] virtual bool local_ranks(std::vector<int>& ranks) = 0;
  // Where it has placed all of them, once local_ranks() has asked; nothing is known when it does not say so at once.
  const ProcessMapping& mapping() const { return mapping_; }

  virtual void finish() = 0;
  virtual void abort(int status) = 0;
  // Ends the connection without a goodbye, behind abort(): a launcher's part on this host that cannot reach the rest of
  // the launcher takes that for a crash, and ends the ranks of this host.
  virtual void hang_up() {}

  virtual const std::string& id() const = 0;  // names the job
  virtual size_t longest_value() const = 0;
  virtual int app_number() const = 0;
  virtual int universe_size() const = 0;
  const base::Problem& problem() const { return problem_; }

 protected:
  // A rank's own key where all ranks of a job share one key-value space.
  static std::string key_of(int rank, const std::string& key) { return key + "-" + std::to_string(rank); }

  base::Problem problem_;
  ProcessMapping mapping_;
};

}  // namespace weft::boot
