// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// PMIx, which prterun (Open MPI's mpirun) and Slurm serve: its own library talks to the server. Asking for a key that
// was not put yet is slow or an error, depending on the server; so all values that ranks put go to all of them with the
// barrier.

#include <atomic>
#include <string>

#include "boot/pmi/kvs.hpp"
#include "boot/pmi/pmix_library.hpp"

namespace weft::boot {

class Pmix final : public Kvs {
 public:
  bool begin(Offer& offer) override;
  bool put(const std::string& key, const std::string& value) override;
  bool get(int rank, const std::string& key, std::string& value) override;
  bool start_barrier() override;
  bool end_barrier(bool wait, bool& over) override;
  bool local_ranks(std::vector<int>& ranks) override;
  void finish() override;
  void abort(int status) override;

  const std::string& id() const override { return job_; }
  size_t longest_value() const override { return 65536; }  // PMIx has no limit
  int app_number() const override { return app_number_; }
  int universe_size() const override { return universe_size_; }

 private:
  static constexpr int under_way = 1;  // no status of PMIx: those are 0 or negative

  static void note_end(int status, void* self);  // called by the library's thread
  bool check(int status, const char* function);
  bool fail(const std::string& cause);
  // A fact about the job, or about this rank: it came with the start, so no question is sent.
  bool look_up(uint32_t rank, const char* key, std::string& text);
  int look_up_number(uint32_t rank, const char* key, int low, int fallback);

  const pmix::PmixFunctions* library_ = nullptr;
  bool begun_ = false;
  pmix::Process self_ = {};
  pmix::PmixInfo collect_ = {};  // the barrier's argument, which must live as long as the barrier
  std::atomic<int> barrier_{0};  // a status of PMIx, or `under_way`
  bool put_ = false;             // something since the last barrier
  std::string job_;
  int size_ = 1;
  int app_number_ = -1;
  int universe_size_ = -1;
};

}  // namespace weft::boot
